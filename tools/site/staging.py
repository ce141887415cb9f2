"""Owns what the site is made of: the pages of the project in one directory, as mkdocs wants them.

Pages stand where they stand in the project, so that their links hold. What is changed: a link to a directory leads to
its page, a link to what is no part of the site is plain text, and in a Chinese page a link to `x.zh.md` is one to
`x.md`, which the site has in both languages. A bar in code of a table needs a backslash on GitHub alone. A page that
there is in English only is in the Chinese site too, so parts of Chinese pages have their English names as well.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<file>[^)\s#]+)(?P<heading>#[^)\s]*)?\)")
_CODE_IN_TABLE = re.compile(r"`[^`\n]*`")
_TO_TRANSLATION = re.compile(r"^\[(中文|English)\]\([^)]*\)\n+", re.MULTILINE)
_FENCED_OR_PART = re.compile(r"^```.*?^```|^##+ (?P<words>[^\n]*)$", re.MULTILINE | re.DOTALL)
_LEFT_OUT = re.compile(r"^tests/|/golden/")
_PAGE = ".md"
_CHINESE_PAGE = ".zh.md"


def stage(root: Path, into: Path) -> None:
    """Copies every page below `root`, and each picture or file that one links to, into the empty directory `into`."""
    names = [name for name in _tracked(root) if not _LEFT_OUT.search(name)]
    pages = [name for name in names if name.endswith(_PAGE)]
    known = set(names)
    for name in pages:
        text = _TO_TRANSLATION.sub("", (root / name).read_text(encoding="utf-8"))
        text = _LINK.sub(lambda link, name=name: _in_site(link, name, known), text)  # type: ignore[misc]
        if name.endswith(_CHINESE_PAGE):
            english = (root / name).with_name(Path(name).name.replace(_CHINESE_PAGE, _PAGE))
            text = _with_names_of(english.read_text(encoding="utf-8"), text)
        lines = [_without_backslashes(line) if line.startswith("| ") else line for line in text.split("\n")]
        _write(into / name, "\n".join(lines))
        for linked in re.findall(r"\]\(([^)\s#:]+)", text):
            file = (root / name).parent / linked
            if not linked.endswith(_PAGE) and file.is_file():
                _copy(file, into / file.resolve().relative_to(root))


def _tracked(root: Path) -> Sequence[str]:
    """Files of the project, and such as were just made."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in listed if (root / name).is_file()]


def _in_site(link: re.Match[str], page: str, known: set[str]) -> str:
    file, heading = link["file"], link["heading"] or ""
    if re.match(r"[a-z]+:", file):
        return link[0]
    if page.endswith(_CHINESE_PAGE):
        file = file.replace(_CHINESE_PAGE, _PAGE)
    target = (Path("/") / Path(page).parent / file).resolve().relative_to("/")
    if str(target) in known:
        return f"[{link['text']}]({file}{heading})"
    if str(target / "README.md") in known:
        return f"[{link['text']}]({file.rstrip('/')}/README.md{heading})"
    return link["text"]


def _with_names_of(english: str, chinese: str) -> str:
    """The Chinese page, before each of whose parts stands the name that links know its English one by."""
    names = [_name(part["words"]) for part in _FENCED_OR_PART.finditer(english) if part["words"]]
    headings = [part for part in _FENCED_OR_PART.finditer(chinese) if part["words"]]
    for name, heading in reversed(list(zip(names, headings, strict=True))):
        if name != _name(heading["words"]):
            chinese = f'{chinese[: heading.start()]}<div id="{name}"></div>\n\n{chinese[heading.start() :]}'
    return chinese


def _name(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def _without_backslashes(row: str) -> str:
    return _CODE_IN_TABLE.sub(lambda code: code[0].replace(r"\|", "|"), row)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)
