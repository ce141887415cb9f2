from pathlib import Path

import pytest

from brimline.compat.jmeter import from_jmeter
from brimline.errors import UsageError
from tests.support.jmx import controller, element, group, plan_text, sampler
from tests.unit.compat.jmeter.plans import PLANS, WORKLOADS
from tests.unit.compat.jmeter.translating import keys_of, requests, translated

SECRETS = ("hidden-word",)


@pytest.mark.parametrize("name", PLANS)
def test_a_whole_plan_becomes_this_workload(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.jmx"
    path.write_text(PLANS[name], "utf-8")
    (workload,) = from_jmeter(path, stem=None, properties={}).workloads.values()
    assert workload.text == WORKLOADS[name]
    assert not any(secret in workload.text for secret in SECRETS)


@pytest.mark.parametrize("count", [1, 30, 300])
def test_plans_of_any_size_are_taken_over(tmp_path: Path, count: int) -> None:
    requested = [sampler(f"request {number}", f"/p/{number}") for number in range(count)]
    pages = [controller("TransactionController", *requested[n : n + 3], name=f"page {n}") for n in range(0, count, 3)]
    found = translated(tmp_path, plan_text(group(*pages)))
    assert len(requests(keys_of(found))) == count


def test_a_plan_that_becomes_more_than_a_workload_can_be_is_one_error(tmp_path: Path) -> None:
    body = "x" * 4000
    many = group(*(sampler(str(number), method="POST", body=body) for number in range(100)))
    with pytest.raises(UsageError, match="would be larger than 256 KiB"):
        translated(tmp_path, plan_text(many))


def test_what_is_said_of_many_elements_takes_no_time_for_each_of_the_others(tmp_path: Path) -> None:
    """20 000 listeners beside 100 requests; a list that were searched for each would take a minute."""
    listeners = element("ResultCollector", "View", {}) * 20_000
    found = translated(tmp_path, plan_text(group(*(sampler(str(number)) for number in range(100))), listeners))
    assert len(found.not_taken) == 20_000
    (workload,) = found.workloads.values()
    assert "What is not taken over is what brimline jmeter prints." in workload.text
