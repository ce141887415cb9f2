"""The files of a document where Chromium is not there, does not start, or ends at once."""

import sys
from pathlib import Path

import pytest

from brimline.errors import BrimlineError, TargetError, UsageError
from brimline.report.view import Chart, Report, Section, Verdict
from brimline.study.writing.files import write_document


def report() -> Report:
    chart = Chart(id="curve", title="A curve", caption="", summary="", figure={})
    return Report(
        kind="study",
        kind_title="Test report",
        name="Mine",
        subtitle="brimline",
        verdict=Verdict(tone="pass", caption="Done", figure="", unit="", interval="", sentence="See below."),
        sections=[Section(id="results", title="Results", short="Results", blocks=[chart])],
        footer="brimline",
    )


def chromium(tmp_path: Path, kind: str) -> str | None:
    if kind == "none":
        return None
    path = tmp_path / "chromium"
    path.write_text("#!/nowhere/at/all\n" if kind == "does not start" else f"#!{sys.executable}\n")
    path.chmod(0o700)
    return str(path)


@pytest.mark.parametrize(
    ("kind", "error"), [("none", UsageError), ("does not start", TargetError), ("ends at once", TargetError)]
)
def test_what_needs_no_chromium_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, error: type[BrimlineError]
) -> None:
    monkeypatch.setattr("brimline.study.writing.files.find_chromium", lambda: chromium(tmp_path, kind))
    said: list[str] = []
    written = write_document(report(), tmp_path, ["html", "md", "pdf"], template=None, say=said.append)
    assert [path.name for path in written.files] == ["document.html", "document.md"]
    assert all(path.exists() for path in written.files)
    assert isinstance(written.error, error)
    assert written.error.message.startswith("document.pdf is not written: ")
    assert len(said) == 1

    without_pdf = write_document(report(), tmp_path, ["html", "md"], template=None, say=said.append)
    assert without_pdf.error is None


def test_a_house_gives_markdown_its_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brimline.study.writing.files.find_chromium", lambda: None)
    house = tmp_path / "house.md.j2"
    house.write_text("Our house: {{ report.name }}\n\n{{ document }}\nOur footer\n")
    write_document(report(), tmp_path, ["md"], template=house, say=lambda _: None)
    text = (tmp_path / "document.md").read_text()
    assert text.startswith("Our house: Mine\n")
    assert "# Test report: Mine" in text and text.rstrip().endswith("Our footer")

    house.write_text("{{ nonsense }}")
    with pytest.raises(UsageError, match=r"house\.md\.j2 can't be used: 'nonsense' is undefined"):
        write_document(report(), tmp_path, ["md"], template=house, say=lambda _: None)
