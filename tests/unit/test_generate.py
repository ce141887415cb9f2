"""`brimline generate`: the documents of a load as rows, to the row, and every end told."""

import csv
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bson
import pytest
from bson import json_util

from brimline import _native
from brimline.api.generate import GenerateProgress, RowFormat, generate
from brimline.cli.app import main
from brimline.errors import BrimlineError, UsageError
from brimline.plan import NullTarget, load_plan
from brimline.spec import load_spec


def loaded(workload: str, count: int, **overrides: object) -> list[bytes]:
    """What a load inserts."""
    plan = load_plan(load_spec(workload, overrides=overrides).spec, target=NullTarget())
    return _native.generate_documents(plan.canonical_json(), plan.data.insert_start, count)


RECORDED = {
    ("bulk-rows", "csv"): "23ab58921292f8d8",
    ("bulk-rows", "json"): "193ae8cc632bdf51",
    ("bulk-rows", "canonical"): "fdf9a317a66a783e",
    ("bulk-rows", "bson"): "c85f404abbf441fb",
    ("log-search", "csv"): "54cc9bee04c00dac",
    ("log-search", "json"): "b7c8383068c648e8",
    ("log-search", "canonical"): "f57d6bb9669782e9",
    ("log-search", "bson"): "7de587bf477e6ef1",
    ("order-service", "csv"): "ec48d57645ff970c",
    ("order-service", "json"): "d2e94bd2fb42cda8",
    ("order-service", "canonical"): "54c691bdce7b1685",
    ("order-service", "bson"): "79bcd793b60cd5ba",
    ("ycsb-a", "csv"): "b946269e228f0c98",
    ("ycsb-a", "json"): "db92901ad344a8f6",
    ("ycsb-a", "canonical"): "db92901ad344a8f6",
    ("ycsb-a", "bson"): "1e1017748a7eeb50",
}
"""Beginnings of the SHA-256 of the first thousand rows with seed 7, recorded when rows were still made through BSON."""


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("workload", "form"), RECORDED)
def test_the_bytes_are_those_that_were_recorded(workload: str, form: str, threads: int, tmp_path: Path) -> None:
    """A file that somebody has made can be made again, whatever becomes faster."""
    row_format: RowFormat = "json" if form == "canonical" else form  # type: ignore[assignment]
    generate(
        workload,
        output=tmp_path / "rows",
        format=row_format,
        canonical=form == "canonical",
        rows=1000,
        threads=threads,
        overrides={"seed": 7},
    )
    assert hashlib.sha256((tmp_path / "rows").read_bytes()).hexdigest()[:16] == RECORDED[workload, form]


@pytest.mark.parametrize("workload", ["bulk-rows", "log-search", "order-service", "ycsb-a"])
def test_a_dump_is_what_a_load_inserts(workload: str, tmp_path: Path) -> None:
    result = generate(workload, output=tmp_path / "rows.bson", rows=2000, overrides={"seed": 7})
    assert (result.rows, result.format) == (2000, "bson")
    assert (tmp_path / "rows.bson").read_bytes() == b"".join(loaded(workload, 2000, seed=7))


def test_csv_has_the_same_values(tmp_path: Path) -> None:
    generate("bulk-rows", output=tmp_path / "rows.csv", rows=1000)
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1000
    for row, raw in zip(rows, loaded("bulk-rows", 1000), strict=True):
        document = bson.decode(raw, bson.CodecOptions(tz_aware=True))
        assert document == {
            "_id": row["_id"],
            "serial": int(row["serial"]),
            "quantity": int(row["quantity"]),
            "created": datetime.fromisoformat(row["created"]),
            "payload": row["payload"],
            "amount": float(row["amount"]),
        }


def test_canonical_json_has_the_same_documents(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    generate("order-service", output=path, rows=300, canonical=True)
    options = json_util.JSONOptions(json_mode=json_util.JSONMode.CANONICAL, tz_aware=True, tzinfo=UTC)
    documents = [json_util.loads(line, json_options=options) for line in path.read_text("utf-8").splitlines()]
    expected = [bson.decode(raw, bson.CodecOptions(tz_aware=True)) for raw in loaded("order-service", 300)]
    assert documents == expected
    assert [bson.encode(document) for document in documents] == loaded("order-service", 300), "types too"


def test_records_of_the_spec_are_the_default(tmp_path: Path) -> None:
    spec = tmp_path / "small.yaml"
    spec.write_text("data: {records: 12, insert_start: 5, fields: {a: sequence}}\noperations: {read: 1}\n")
    result = generate(spec, output=tmp_path / "rows.csv", header="none")
    assert result.rows == 12
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == [str(number) for number in range(5, 17)]


def test_a_size_is_the_largest_number_of_rows_that_fit(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    result = generate("bulk-rows", output=path, size_bytes=3_000_000)
    assert result.bytes == path.stat().st_size <= 3_000_000 < result.bytes + 290
    assert result.rows == path.read_text().count("\n") - 1


def test_the_way_is_told(tmp_path: Path) -> None:
    seen: list[GenerateProgress] = []
    generate("bulk-rows", output=tmp_path / "rows.csv", rows=500_000, threads=1, on_progress=seen.append)
    assert [state.share for state in seen] == sorted(state.share for state in seen)
    assert all(state.share == state.rows / 500_000 for state in seen)


def test_files_are_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("precious")
    with pytest.raises(UsageError, match="exists already"):
        generate("bulk-rows", output=path, rows=1)
    assert path.read_text() == "precious"
    generate("bulk-rows", output=path, rows=1, overwrite=True)
    assert path.read_text().startswith("_id,serial")


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("", "is a directory", "name a file in it"),
        ("r" * 300 + ".csv", "file name too long", "choose another name"),
        ("plain.txt/rows.csv", "not a directory", "choose another name"),
    ],
)
def test_a_name_that_no_file_can_have_is_one_error(tmp_path: Path, name: str, message: str, hint: str) -> None:
    (tmp_path / "plain.txt").touch()
    with pytest.raises(UsageError, match=message) as caught:
        generate("bulk-rows", output=tmp_path / name, rows=1)
    assert caught.value.hint == hint


def test_room_is_looked_at_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["brimline.api.generate"], "free_below", lambda _: 2_000_000)
    with pytest.raises(BrimlineError, match=r"would take 27\.\d MB, but 2\.00 MB are free"):
        generate("bulk-rows", output=tmp_path / "rows.csv", rows=100_000)
    with pytest.raises(BrimlineError, match=r"would take 5\.00 TB"):
        generate("bulk-rows", output=tmp_path / "rows.csv", size_bytes=5 * 10**12)
    assert not list(tmp_path.iterdir())
    assert generate("bulk-rows", output=tmp_path / "rows.csv", rows=5000).rows == 5000


def test_a_full_disk_is_told_with_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BrimlineError, match=r"can't write /dev/full: no space left on device after 0 rows") as caught:
        generate("bulk-rows", output=Path("/dev/full"), format="csv", rows=10_000)
    assert caught.value.hint == "write to another place"
    assert said(["bulk-rows", "--rows", "9k", "--format", "bson", "-o", "/dev/full"], capsys)[0] == 1


def test_a_file_that_could_not_be_finished_has_whole_rows(tmp_path: Path) -> None:
    """A limit on the size of files is a disk that is full."""
    path = tmp_path / "rows.csv"
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))\n"
        "from brimline.cli.app import main\n"
        f"main(['generate', 'bulk-rows', '--rows', '100k', '-q', '-o', {str(path)!r}])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    text = path.read_text()
    rows = text.count("\n") - 1
    assert ended.returncode == 1
    assert text.endswith("\n") and 0 < len(text) <= 3_000_000 and rows > 1000
    assert f"after {rows // 1000} {rows % 1000:03} rows" in ended.stderr and "holds these whole rows" in ended.stderr


def test_a_pipe_that_is_closed_is_told() -> None:
    words = [sys.executable, "-m", "brimline", "generate", "bulk-rows", "--rows", "1M", "-q"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("_id,")
        process.stdout.close()
        assert process.wait(timeout=60) == 1
        assert "standard output was closed after" in process.stderr.read()


def test_an_interrupted_file_has_whole_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    words = [
        sys.executable,
        "-m",
        "brimline",
        "generate",
        "bulk-rows",
        "--size",
        "4GB",
        "--threads",
        "1",
        "-o",
        str(path),
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        while not path.exists() or path.stat().st_size < 1_000_000:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        talk = process.stderr.read()
        assert process.wait(timeout=60) == 130, talk
    assert "interrupted by SIGINT after" in talk
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        assert file.read() == b"\n"


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["generate", *words])
    streams = capsys.readouterr()
    return ended.value.code, streams.out, streams.err


def test_json_says_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.jsonl"
    code, out, _ = said(["log-search", "--rows", "1k", "-o", str(path), "--json", "-q"], capsys)
    values = json.loads(out)
    assert code == 0
    assert (values["rows"], values["format"], values["bytes"]) == (1000, "json", path.stat().st_size)
    assert values["cpu_ns_per_row"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bulk-rows", "--rows", "5", "--size", "1MB"], "error: a number of rows and a size are two ends"),
        (["bulk-rows", "--rows", "none"], 'error: --rows: "none" is no'),
        (["bulk-rows", "--size", "0"], "error: --size: must be in 1 to"),
        (["bulk-rows", "-o", "rows.parquet"], "error: rows.parquet doesn't say what to write"),
        (["bulk-rows", "-o", "no/such/rows.csv"], "error: no/such is no directory"),
        (["bulk-rows", "--json"], "error: --json and the rows would both go to standard output"),
        (["bulk-row"], 'error: there is no workload "bulk-row"'),
    ],
)
def test_words_that_can_t_be_followed(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = said(words, capsys)
    assert code == 2
    assert out == "" if "--json" not in words else json.loads(out)["exit_code"] == 2, "an error, and no rows"
    assert err.startswith(message) and "hint: " in err
    assert not list(tmp_path.iterdir())
