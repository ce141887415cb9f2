"""`brimline lint`: data on stdout, contradictions as exit code 3, one error for a file that can't be read."""

import json
from pathlib import Path

import pytest

from brimline.cli.app import main

GOOD = "results: [{name: a, samples: 1000, duration: 10s, throughput: 100/s}]\n"
BAD = GOOD.replace("100/s", "1000/s")


def lint(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["lint", str(path), *words])
    streams = capsys.readouterr()
    return ended.value.code, streams.out, streams.err


def test_what_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(GOOD)
    code, out, err = lint(path, capsys)
    assert (code, err) == (0, "") and "pass" in out and "samples / duration" in out


def test_a_contradiction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(BAD)
    code, out, err = lint(path, capsys)
    assert code == 3 and "fail" in out and "ten times too large" in out
    assert err.startswith("error: 1 claim contradicts what else claims.yaml says\n")


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(BAD)
    code, out, _ = lint(path, capsys, "--json")
    document = json.loads(out)
    assert code == 3 and document["contradictions"] == 1
    assert document["lint"][0]["name"] == "throughput" and document["lint"][0]["result"] == "fail"


def test_nothing_to_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text("results: [{name: a, samples: 1}]")
    code, out, _ = lint(path, capsys)
    assert code == 0 and "No claim could be held against another" in out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"<!doctype html>\n<html></html>", "is a page and no file of claims"),
        (b"results: [" + b"a," * 200_000, "larger than 256 KiB"),
        (b"results: 3", "must be a list"),
    ],
)
def test_a_file_that_is_none(
    content: bytes | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.yaml"
    if content is not None:
        path.write_bytes(content)
    code, out, err = lint(path, capsys)
    assert (code, out) == (2, "") and words in err and err.count("error: ") == 1


def test_a_directory_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = lint(tmp_path, capsys)
    assert code == 2 and "is a directory" in err


def test_what_a_file_says_reaches_the_terminal_without_its_controls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text('results: [{name: "\\e[31mred", samples: 100, errors: 90, error_rate: 1%}]')
    code, out, err = lint(path, capsys)
    assert code == 3 and "[31mred" in out and "\x1b" not in out + err


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("", "is empty", "it lists results"),
        ("- 1", "holds no keys", "it lists results"),
        ("results: [{name: a, samples: 5, parts: [a]}]", '"a" can\'t be a part of itself', "docs/guides/lint.md"),
    ],
)
def test_a_file_of_no_claims(
    text: str, problem: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(text)
    code, _, err = lint(path, capsys)
    assert code == 2 and problem in err and hint in err
