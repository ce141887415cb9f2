"""The manifest for Kubernetes: held against KubeRay's schema and against brimline's options. It is not run here."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer.main
import yaml

from brimline.cli.app import whole_program

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "kubernetes"
SCHEMA = json.loads((Path(__file__).parent / "kuberay-rayjob.schema.json").read_text())
"""Cut from KubeRay's CRD: what is used is whole, of the rest the names are there, so that a slip of a name is found."""


@pytest.fixture
def job() -> Any:
    return yaml.safe_load((EXAMPLE / "rayjob.yaml").read_text())


def containers(job: Any) -> Iterator[Any]:
    cluster = job["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        yield from group["template"]["spec"]["containers"]


def test_it_is_a_ray_job_by_kuberays_schema(job: Any) -> None:
    jsonschema.validate(job, SCHEMA)


@pytest.mark.parametrize(
    ("place", "slip"),
    [
        (("spec",), {"entryPoint": "brimline"}),
        (("spec",), {"backoffLimit": "none"}),
        (("spec", "rayClusterSpec", "headGroupSpec", "template", "spec"), {"volume": []}),
        (("spec", "rayClusterSpec", "workerGroupSpecs", 0), {"replicas": 1.5}),
    ],
)
def test_the_schema_finds_slips(job: Any, place: tuple[str | int, ...], slip: dict[str, Any]) -> None:
    at = job
    for step in place:
        at = at[step]
    at.update(slip)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(job, SCHEMA)


def test_its_command_is_parsed_and_asks_for_as_many_workers_as_there_are(job: Any) -> None:
    words = shlex.split(job["spec"]["entrypoint"])
    program: Any = typer.main.get_command(whole_program())
    context = program.commands[words[1]].make_context(words[1], words[2:])
    (group,) = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert words[0] == "brimline" and context.params["workers"] == f"ray:{group['replicas']}"
    assert group["minReplicas"] == group["replicas"] == group["maxReplicas"]
    # The coordinator's node takes no worker, and each machine one.
    assert job["spec"]["rayClusterSpec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    (apart,) = group["template"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert apart["labelSelector"]["matchLabels"] == {"ray.io/group": group["groupName"]}


def test_nothing_is_tried_twice_and_the_cluster_goes(job: Any) -> None:
    assert job["spec"]["backoffLimit"] == 0 == job["spec"]["submitterConfig"]["backoffLimit"]
    assert job["spec"]["shutdownAfterJobFinishes"] is True


def test_what_is_asked_for_is_what_may_be_used_and_there_is_no_secret(job: Any) -> None:
    for each in containers(job):
        assert each["resources"]["requests"] == each["resources"]["limits"]
        assert all("value" not in variable for variable in each.get("env", ()))
    text = yaml.safe_dump(job)
    assert not re.search(r"mongodb(\+srv)?://|token|password: (?!password)", text)


def test_versions_are_those_that_are_locked(job: Any) -> None:
    locked = re.search(r"^ray==(\S+)", (ROOT / "tools/cluster/requirements.txt").read_text(), re.MULTILINE)
    assert locked is not None
    assert job["spec"]["rayClusterSpec"]["rayVersion"] == locked[1]
    assert f"\nFROM rayproject/ray:{locked[1]}-py311\n" in (EXAMPLE / "Dockerfile").read_text()
    images = {each["image"] for each in containers(job)}
    assert len(images) == 1


def test_it_says_that_it_was_not_run() -> None:
    assert "was not run" in (EXAMPLE / "README.md").read_text()
    assert "was not run" in (EXAMPLE / "rayjob.yaml").read_text()
