"""What of the drivers' retryable reads and writes is decided before a run; the rest is the engine's: `retries.json`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from brimline.servers import Deployment, external

HERE = Path(__file__).parent
LIST: dict[str, Any] = json.loads((HERE / "retries.json").read_text(encoding="utf-8"))


def test_the_list_says_where_each_case_is_shown_or_why_not() -> None:
    engine = (HERE.parents[1] / "crates/engine/tests/all/failover.rs").read_text(encoding="utf-8")
    for shown in LIST["shown elsewhere"]:
        by = re.fullmatch(r"failover\.rs: (\w+)", shown["by"])
        assert by is None or f"fn {by[1]}()" in engine, shown
    assert all(each["why"] for each in LIST["not applicable"])


@pytest.mark.mongod
def test_nothing_is_sent_again_to_a_server_without_sessions(mongod: Deployment) -> None:
    server = external(f"mongodb://{mongod.address}/?retryReads=true&retryWrites=true")
    assert (server.kind, server.retry_reads, server.retry_writes) == ("standalone", False, False)
