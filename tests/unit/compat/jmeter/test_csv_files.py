from pathlib import Path
from typing import Any

import pytest

from tests.support.jmx import element, group, plan_text, sampler
from tests.unit.compat.jmeter.translating import keys_of, requests, translated


def data_set(**said: Any) -> str:
    properties = {
        "filename": "users.csv", "variableNames": "user,city", "delimiter": ",", "recycle": True, "stopThread": False,
        "shareMode": "shareMode.all", "ignoreFirstLine": False, "quotedData": False, "fileEncoding": "",
    }  # fmt: skip
    return element("CSVDataSet", "Users", {**properties, **said})


def plan(**said: Any) -> str:
    return plan_text(data_set(**said), group(sampler("A", "/${user}", arguments=[("city", "${city}")])))


@pytest.mark.parametrize(
    ("said", "content", "rows"),
    [
        ({}, "ann,Rome\nbob,Oslo\n", "user,city\nann,Rome\nbob,Oslo\n"),
        ({"delimiter": ";"}, "ann;Ro,me\n", 'user,city\nann,"Ro,me"\n'),
        ({"delimiter": "\\t"}, "ann\tRome\n", "user,city\nann,Rome\n"),
        ({"ignoreFirstLine": True}, "name,town\nann,Rome\n", "user,city\nann,Rome\n"),
        ({"variableNames": ""}, "user,city\nann,Rome\n", "user,city\nann,Rome\n"),
        ({"quotedData": True}, '"a,b","say ""x"""\n', 'user,city\n"a,b","say ""x"""\n'),
        ({"quotedData": False}, '"ann",Rome\n', 'user,city\n"""ann""",Rome\n'),
        ({}, "ann\nbob,Oslo,extra\n\n", "user,city\nann,\nbob,Oslo\n"),
        ({"fileEncoding": "GBK"}, "安,北京\n".encode("gbk"), "user,city\n安,北京\n"),
        ({}, b"\xef\xbb\xbfann,Rome\r\n", "user,city\nann,Rome\n"),
        ({"filename": "${__P(file,users.csv)}"}, "ann,Rome\n", "user,city\nann,Rome\n"),
    ],
)
def test_rows_come_with_their_header_beside_the_workload(
    tmp_path: Path, said: dict[str, Any], content: str | bytes, rows: str
) -> None:
    (tmp_path / "users.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    found = translated(tmp_path, plan(**said))
    (workload,) = found.workloads.values()
    assert workload.beside == {"out-users.csv": rows}
    keys = keys_of(found)
    assert keys["values"] == {
        "users": {"csv": "out-users.csv", "order": "in_turn", "at_end": "again"},
        "user": "$users.user",
        "city": "$users.city",
    }
    assert requests(keys) == [{"get": {"path": "/$user", "query": {"city": "$city"}}}]


@pytest.mark.parametrize(
    ("said", "table", "changed"),
    [
        ({"recycle": False, "stopThread": True}, {"at_end": "stop"}, None),
        ({"recycle": False}, {"at_end": "again"}, "where JMeter gives the text <EOF>"),
        ({"shareMode": "shareMode.thread"}, {"scope": "worker"}, None),
        ({"shareMode": "shareMode.group"}, {"at_end": "again"}, None),
        ({"shareMode": "own-name"}, {"at_end": "again"}, "its rows are shared by all threads"),
        ({"shareMode": "shareMode.thread", "recycle": False, "stopThread": True}, {"scope": "worker"},
         "rows of each thread begin again"),
    ],
)  # fmt: skip
def test_what_follows_the_last_row_and_who_shares_them(
    tmp_path: Path, said: dict[str, Any], table: dict[str, Any], changed: str | None
) -> None:
    (tmp_path / "users.csv").write_text("ann,Rome\n")
    found = translated(tmp_path, plan(**said))
    assert keys_of(found)["values"]["users"] == {"csv": "out-users.csv", "order": "in_turn", **table}
    assert changed is None or any(changed in each for each in found.changed)


@pytest.mark.parametrize(
    ("said", "content", "lost"),
    [
        ({}, None, "users.csv isn't there, or can't be read; put it beside the workload"),
        ({}, b"\xff\xfe\xff", "users.csv isn't there, or can't be read"),
        ({}, b"", "users.csv has no rows"),
        ({"variableNames": ""}, None, "nothing says its columns"),
        ({"filename": "${file}"}, b"", "its file's name is not known beforehand"),
        ({"variableNames": "a,a"}, b"1,2", "its columns have no names of their own"),
        ({"delimiter": "||"}, b"1,2", "its delimiter has several characters"),
    ],
)
def test_a_file_that_can_not_be_taken_over_is_listed(
    tmp_path: Path, said: dict[str, Any], content: bytes | None, lost: str
) -> None:
    if content is not None:
        (tmp_path / "users.csv").write_bytes(content)
    found = translated(tmp_path, plan(**said))
    assert lost in found.not_taken[0]


def test_without_a_file_to_write_the_rows_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text("ann,Rome\n")
    found = translated(tmp_path, plan(), stem=None)
    assert keys_of(found)["values"]["users"]["csv"] == "users.csv"
    assert next(iter(found.workloads.values())).beside == {}
    assert "needs the first line user,city and commas" in found.changed[0]
    (tmp_path / "users.csv").write_text("user,city\nann,Rome\n")
    assert not any("first line" in each for each in translated(tmp_path, plan(variableNames=""), stem=None).changed)
