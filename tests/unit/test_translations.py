"""A Chinese page says what its English one does: the same commands, output, links and names, part by part."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHINESE = sorted([*ROOT.glob("*.zh.md"), *(ROOT / "docs").rglob("*.zh.md")])
ENGLISH = [page.with_name(page.name.replace(".zh.md", ".md")) for page in CHINESE]
PAIRS = [pytest.param(*pair, id=str(pair[0].relative_to(ROOT))) for pair in zip(ENGLISH, CHINESE, strict=True)]
IN_CHINESE_ONLY = {"--lang zh", "BRIMLINE_LANG=zh"}
"""A Chinese page says early how to have Chinese."""
COMMENT = re.compile(r"\s+#.*")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def commands(text: str) -> list[str]:
    """Indented lines without their comments, which are in the language of the page."""
    return [COMMENT.sub("", line).strip() for line in text.splitlines() if line.startswith("    ")]


def fenced(text: str) -> list[str]:
    blocks = re.findall(r"```(?:\w*)\n(.*?)```", text, re.DOTALL)
    return ["\n".join(COMMENT.sub("", line) for line in block.splitlines()) for block in blocks]


def named(text: str) -> set[str]:
    """What stands between backticks in running text."""
    running = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", "\n".join(line for line in running.splitlines() if line[:4] != "    ")))


def links(page: Path) -> set[Path]:
    """The files that links of a page lead to, but for the one to its own translation."""
    running = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    targets = {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", running)}
    return targets - {page.with_name(page.name.replace(".zh.md", ".md")), page.with_name(f"{page.stem}.zh.md")}


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_the_commands_and_the_output_are_the_same(english: Path, chinese: Path) -> None:
    assert commands(text_of(chinese)) == commands(text_of(english))
    assert fenced(text_of(chinese)) == fenced(text_of(english))


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_the_parts_are_the_same(english: Path, chinese: Path) -> None:
    shapes = [re.findall(r"^(#+|-|\d\.|\|) ", text_of(page), re.MULTILINE) for page in (english, chinese)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_nothing_is_named_on_one_page_only(english: Path, chinese: Path) -> None:
    there, here = named(text_of(english)), named(text_of(chinese))
    assert there - here == set()
    assert here - there <= IN_CHINESE_ONLY


@pytest.mark.parametrize("chinese", CHINESE, ids=lambda page: str(page.relative_to(ROOT)))
def test_bold_words_begin_and_end_where_github_sees_it(chinese: Path) -> None:
    """Beside a full stop, `**` begins or ends no bold words where a letter stands on its other side."""
    bold = re.findall(r"(.?)\*\*([^*\n]+)\*\*(?=(.?))", text_of(chinese))
    beside = [pair for before, words, behind in bold for pair in ((before, words[0]), (behind, words[-1]))]
    assert [pair for pair in beside if pair[0].isalnum() and not pair[1].isalnum()] == []


@pytest.mark.parametrize("chinese", CHINESE, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_ends_between_two_chinese_characters(chinese: Path) -> None:
    """The end of a line is shown as a space, which is right beside a Latin word and behind a sentence alone."""
    running = re.sub(r"```.*?```", "", text_of(chinese), flags=re.DOTALL)
    assert re.findall(r"[^\n]*[一-鿿，、（]\n {0,3}[一-鿿“（][^\n]*|[^\n]*[，、]\n {0,3}[\w`*\[][^\n]*", running) == []


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_links_lead_to_the_same_pages_in_chinese_where_there_is_one(english: Path, chinese: Path) -> None:
    pictures = {file: file.with_suffix(".zh.svg") for file in links(english) if file.suffix == ".svg"}
    translated = dict(zip(ENGLISH, CHINESE, strict=True)) | {
        file: other for file, other in pictures.items() if other.exists()
    }
    assert links(chinese) == {translated.get(page, page) for page in links(english)}


def test_the_chinese_readme_says_where_a_link_leads_to_an_english_page() -> None:
    """Who reads the first page in Chinese knows before a click."""
    found = re.findall(r"\[[^]\n]*\]\(([^)#:]+\.md)[^)]*\)(（英文）)?", text_of(ROOT / "README.zh.md"))
    assert ("docs/reference/spec.md", "（英文）") in found
    wrong = [page for page, mark in found if (page.endswith(".zh.md") or page == "README.md") is bool(mark)]
    assert wrong == []


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_each_page_leads_to_its_translation(english: Path, chinese: Path) -> None:
    """Below its title, for who reads the pages themselves; the site has a menu in its place."""
    assert text_of(english).splitlines()[1:4] == ["", f"[中文]({chinese.name})", ""]
    assert text_of(chinese).splitlines()[1:4] == ["", f"[English]({english.name})", ""]


def after(words: list[str], *flags: str) -> set[str]:
    return {value for flag, value in pairwise(words) if flag in flags}


@pytest.mark.parametrize("page", ["README.md", *(f"docs/start/{name}.md" for name in ("first-steps", "your-server"))])
def test_each_command_finds_what_it_names(page: str) -> None:
    """In the order of the page: files and directories that an earlier command made, and the address of a server."""
    text = text_of(ROOT / page)
    known = set(re.findall(r"saved as `(\S+)`", text))
    for command in commands(text):
        words = shlex.split(command)
        servers = [word for word in words if "mongodb://" in word or re.search(r"\$\{?URI", word)]
        assert not any("mongodb://" in server for server in servers), command
        assert "URI" in known or not servers, command
        made = after(words, "--runs-dir", "-o", "--junit", ">") | {word[:-1] for word in re.findall(r"^\w+=", command)}
        found = {word for word in words if re.fullmatch(r"[\w./-]+(/|\.[a-z]+)", word)}
        missing = {word for word in found - made - known if not (ROOT / word).exists()}
        assert not missing, f"{command}: nothing made {missing}"
        known |= made


def test_the_readme_is_one_page() -> None:
    """And its first screen answers how a server of one's own is tested."""
    lines = text_of(ROOT / "README.md").splitlines()
    assert len(lines) <= 120 and len(text_of(ROOT / "README.zh.md").splitlines()) <= 120
    first_screen = "\n".join(lines[:40])
    assert re.search(r"brimline run .*--uri .*--rate 2000/s --p99 20ms", first_screen)


@pytest.mark.parametrize("directory", ["start", "guides", "concepts", "reference"])
def test_the_index_leads_to_every_page(directory: str) -> None:
    """One page a verb is below the page of the verbs."""
    pages = {page for page in (ROOT / "docs" / directory).glob("*.md") if not page.name.endswith(".zh.md")}
    assert pages - links(ROOT / "docs/README.md") == set()
