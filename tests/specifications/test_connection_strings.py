"""Connection strings against the list of the drivers' specifications: `connection_strings.yaml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from brimline.errors import UsageError
from brimline.servers.access import Tls
from brimline.servers.uri import ServerUri, parse_server_uri
from brimline.spec.target import write_concern_of_uri

LISTS: Mapping[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("connection_strings.yaml").read_text(encoding="utf-8")
)
CASES = [case for name, cases in LISTS.items() if name != "not applicable" for case in cases]


@pytest.mark.parametrize("case", [each for each in CASES if "taken" in each], ids=lambda case: case["case"])
def test_a_string_that_is_taken(case: dict[str, Any]) -> None:
    assert _said(parse_server_uri(case["uri"]), case["uri"]) == {"hosts": [], **_whole(case["taken"])}


@pytest.mark.parametrize("case", [each for each in CASES if "refused" in each], ids=lambda case: case["case"])
def test_a_string_that_is_refused(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRIMLINE_PASSWORD", raising=False)
    with pytest.raises((UsageError, ValueError)) as raised:
        parse_server_uri(case["uri"])
        write_concern_of_uri(case["uri"])
    assert case["refused"] in str(raised.value)


def test_the_list_is_whole_and_says_why() -> None:
    assert len(CASES) > 100
    assert len({case["uri"] for case in CASES}) == len(CASES), "a case is there twice"
    for case in CASES:
        assert ("taken" in case) != ("refused" in case), case
        assert "differs" not in case or "refused" in case, case
    assert all(each["why"] for each in LISTS["not applicable"])


def _whole(taken: Mapping[str, Any]) -> dict[str, Any]:
    """What is expected, with TLS as it is meant."""
    return {**taken, **({"tls": Tls(**taken["tls"])} if "tls" in taken else {})}


def _said(uri: ServerUri, text: str) -> dict[str, Any]:
    """What a string came to, without what is as it is without a word."""
    login, compression, reads = uri.access.login, uri.access.compression, uri.read_preference
    concern = write_concern_of_uri(text)
    said: dict[str, Any] = {
        "hosts": list(uri.seeds),
        "login": None if login is None else [login.username, login.password, login.source],
        "mechanism": None if login is None else login.mechanism,
        "set": uri.set_name,
        "tls": uri.access.tls,
        "direct": uri.is_direct if "directConnection" in text else None,
        "retry_writes": False if not uri.retry_writes else None,
        "selection_timeout_ms": uri.selection_timeout_ms if uri.selection_timeout_ms != 30_000 else None,
        "compressors": None if compression is None else list(compression.compressors),
        "zlib_level": None if compression is None else compression.zlib_level,
        "read_concern": uri.read_concern,
        "write_concern": None if concern is None else [concern.w, concern.journal, concern.timeout_ms],
        "reads": None,
    }
    if reads.mode != "primary":
        said["reads"] = [reads.mode, [dict(tags) for tags in reads.tag_sets], reads.max_staleness_s]
    return {name: value for name, value in said.items() if value is not None}
