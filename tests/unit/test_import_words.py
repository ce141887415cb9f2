"""`brimline import-results`: a record that `show`, `report` and `list` know, and one error for what can't be read."""

import json
from pathlib import Path

import pytest

from brimline.cli.app import main
from tests.support.ycsb_golden import GOLDEN
from tests.unit.compat.results.jtl import START_MS, Sample, uniform, write


def brimline(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    streams = capsys.readouterr()
    return ended.value.code, streams.out, streams.err


def test_import_show_report_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jtl, runs = write(tmp_path / "orders.jtl", uniform(2000)), str(tmp_path / "runs")
    code, out, err = brimline(["import-results", str(jtl), "--runs-dir", runs], capsys)
    assert (code, err) == (0, "") and "Imported from JMeter" in out
    html = Path(out.rsplit("report: ", 1)[1].splitlines()[0])
    assert html.stat().st_size > 10_000
    code, shown, _ = brimline(["show", "--runs-dir", runs], capsys)
    assert code == 0 and "GET order" in shown
    html.unlink()
    code, out, _ = brimline(["report", "latest", "--runs-dir", runs], capsys)
    assert code == 0 and out.strip() == str(html) and html.exists()
    code, out, _ = brimline(["list", "--runs-dir", runs], capsys)
    assert code == 0 and "imported" in out and "orders" in out
    code, out, _ = brimline(["list", "--json", "--runs-dir", runs], capsys)
    document = json.loads(out)
    assert code == 0 and (document["format_version"], document["kind"]) == (1, "list")
    assert [entry["kind"] for entry in document["records"]] == ["imported"]


def test_the_shipped_workloads_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = brimline(["workloads", "--json"], capsys)
    document = json.loads(out)
    assert code == 0 and (document["format_version"], document["kind"]) == (1, "workloads")
    assert "ycsb-a" in [entry["name"] for entry in document["workloads"]]


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(GOLDEN / "a-run.raw.stdout"), str(GOLDEN / "a-run.raw.data.txt")]
    code, out, _ = brimline(["import-results", *files, "--json", "--runs-dir", str(tmp_path)], capsys)
    document = json.loads(out)
    assert code == 0 and document["origin"] == "imported" and document["tool"] == "YCSB"
    assert document["operations"]["Total"]["samples"] == 1000
    assert [each["format"] for each in document["sources"]] == ["ycsb", "ycsb"]
    code, again, _ = brimline(["show", "--json", "--runs-dir", str(tmp_path)], capsys)
    assert code == 0 and json.loads(again) == document


def test_in_the_language_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jtl = write(tmp_path / "orders.jtl", uniform(2000))
    code, out, _ = brimline(["import-results", str(jtl), "--lang", "zh", "--runs-dir", str(tmp_path / "runs")], capsys)
    html = Path(out.rsplit("报告: ", 1)[1].splitlines()[0])
    assert code == 0 and "吞吐量" in out and '<html lang="zh-CN">' in html.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [b"", b"hello\n", b"timeStamp,elapsed,label,success\n1,x,a,true\n"])
def test_what_cannot_be_read_leaves_nothing(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, runs = tmp_path / "r.jtl", tmp_path / "runs"
    path.write_bytes(content)
    code, out, err = brimline(["import-results", str(path), "--runs-dir", str(runs)], capsys)
    assert (code, out) == (2, "") and err.startswith("error: r.jtl") and err.count("error: ") == 1
    assert not runs.exists()


def test_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = brimline(["import-results"], capsys)
    assert code == 2 and "missing argument" in err


def test_a_terminal_is_not_steered_by_a_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = [each._replace(label="GET \x1b[31m\u202eorder") for each in uniform(20)]
    jtl = write(tmp_path / "r.jtl", samples)
    code, out, _ = brimline(["import-results", str(jtl), "--runs-dir", str(tmp_path / "runs")], capsys)
    assert code == 0 and "\x1b[31m" not in out and "\u202e" not in out


@pytest.mark.parametrize("name", ["record", "directory"])
def test_an_import_is_followed_and_not_compared_with_itself(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    jtl = write(tmp_path / "orders.jtl", uniform(2000))
    brimline(["import-results", str(jtl), "--runs-dir", str(runs)], capsys)
    (record,) = runs.iterdir()
    named = str(record if name == "record" else runs)
    code, out, err = brimline(["compare", named, named], capsys)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {record.name} is named more than once")
    code, out, _ = brimline(["trend", named], capsys)
    assert code == 0 and record.name in out


def test_a_kind_that_never_succeeded_ends_with_4_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of that kind there is no figure, whatever the others did; of the others there are."""
    failing = [Sample(START_MS + 10 * each, 5, "PUT order", success=False) for each in range(1, 40)]
    path = write(tmp_path / "half.jtl", [*uniform(40), *failing])
    code, _, said = brimline(["import-results", str(path), "--runs-dir", str(tmp_path / "runs")], capsys)
    assert code == 4
    assert "some operations have no figure: none of 39 PUT order operations succeeded" in said
    ycsb = tmp_path / "load.txt"
    ycsb.write_text(
        "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 10\n[READ], Operations, 10\n"
        "[READ], AverageLatency(us), 100\n[READ], MinLatency(us), 90\n[READ], MaxLatency(us), 120\n"
        "[READ], Return=OK, 10\n[INSERT-FAILED], Operations, 5\n[INSERT-FAILED], AverageLatency(us), 100\n"
        "[INSERT-FAILED], MinLatency(us), 90\n[INSERT-FAILED], MaxLatency(us), 120\n[INSERT], Operations, 0\n"
        "[INSERT], AverageLatency(us), NaN\n[INSERT], MinLatency(us), 9223372036854775807\n"
        "[INSERT], MaxLatency(us), 0\n[INSERT], Return=ERROR, 5\n"
    )
    code, _, said = brimline(["import-results", str(ycsb), "--runs-dir", str(tmp_path / "runs")], capsys)
    assert code == 4 and "none of 5 INSERT operations succeeded" in said


@pytest.mark.parametrize(
    ("others", "failing", "code", "words"),
    [
        (40, 1, 0, ""),
        (40, 2, 4, "some operations have no figure: none of 2 login operations succeeded"),
        (0, 1, 4, "the run proves nothing: none of 1 login operations succeeded"),
    ],
)
def test_one_sample_that_failed_shows_nothing_about_its_kind(
    others: int, failing: int, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once is not never, but where it is all that there is."""
    samples = [Sample(START_MS + each, 5, "login", success=False) for each in range(failing)]
    path = write(tmp_path / "r.jtl", [*uniform(others), *samples])
    ended, out, said = brimline(["import-results", str(path), "--json", "--runs-dir", str(tmp_path / "runs")], capsys)
    assert ended == code and words in said
    errors = next(each for each in json.loads(out)["checks"] if each["name"] == "errors")
    assert ("the only operation login failed" in errors["evidence"]) == (code == 0)
    assert errors["result"] == ("warn" if code == 0 else "fail")


def test_what_is_unusual_is_a_warning_and_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once it is in the record it is a note there, and no warning of the terminal."""
    lines = ["[OVERALL], RunTime(ms), 4000", "[READ], Operations, 4", "[READ], AverageLatency(us), 15,5",
             "[READ], 95thPercentileLatency(ms), 2", "[READ], Return=0, 4", "[READ], 0, 3"]  # fmt: skip
    (tmp_path / "run.txt").write_text("\n".join(lines) + "\n")
    runs = ("--runs-dir", str(tmp_path / "runs"))
    code, out, err = brimline(["import-results", str(tmp_path / "run.txt"), "--json", *runs], capsys)
    notes = json.loads(out)["notes"]
    assert code == 0 and err.count("warning: ") == 2
    for words in ("don't add up to its operations", "decimal commas"):
        assert any(words in note for note in notes) and words in err
    assert "warning" not in brimline(["show", *runs], capsys)[2]
