"""The Chinese README says what the English one does: the same commands, output, exit codes, links and names."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGLISH, CHINESE = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))
OTHER_PAGE = {"README.md", "README.zh.md"}
IN_CHINESE_ONLY = {"BRIMLINE_LANG=zh"}
"""The Chinese page says early how to have Chinese."""
COMMENT = re.compile(r"\s+#.*")


def commands(text: str) -> list[str]:
    """Indented lines without their comments, which are in the language of the page."""
    return [COMMENT.sub("", line).strip() for line in text.splitlines() if line.startswith("    ")]


def fenced(text: str) -> list[str]:
    blocks = re.findall(r"```(?:\w*)\n(.*?)```", text, re.DOTALL)
    return ["\n".join(COMMENT.sub("", line) for line in block.splitlines()) for block in blocks]


def named(text: str) -> set[str]:
    """What stands between backticks in running text, and where links lead."""
    running = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return {*re.findall(r"`([^`\n]+)`", running), *re.findall(r"\]\(([^)#]+)", running)}


def test_the_commands_are_the_same() -> None:
    assert len(commands(ENGLISH)) > 20
    assert commands(CHINESE) == commands(ENGLISH)


def after(words: list[str], *flags: str) -> set[str]:
    return {value for flag, value in pairwise(words) if flag in flags}


def test_each_command_finds_what_it_names() -> None:
    """In the order of the page: files and directories that an earlier command made, and the address of a server."""
    known = set(re.findall(r"saved as `(\S+)`", ENGLISH))
    for command in commands(ENGLISH):
        words = shlex.split(command)
        servers = [word for word in words if "mongodb://" in word or re.search(r"\$\{?URI", word)]
        assert not any("mongodb://" in server for server in servers), command
        assert "URI" in known or not servers, command
        assert servers or words[:2] != ["brimline", "ycsb"], f"{command}: names no server"
        made = after(words, "--runs-dir", "-o", "--junit", ">") | {word[:-1] for word in re.findall(r"^\w+=", command)}
        named = {word for word in words if re.fullmatch(r"[\w./-]+(/|\.[a-z]+)", word)}
        missing = {word for word in named - made - known if not (ROOT / word).exists()}
        assert not missing, f"{command}: nothing made {missing}"
        known |= made


def test_output_and_examples_are_the_same() -> None:
    assert len(fenced(ENGLISH)) >= 3
    assert fenced(CHINESE) == fenced(ENGLISH)


def test_exit_codes_are_the_same() -> None:
    codes = [re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE) for text in (ENGLISH, CHINESE)]
    assert codes[0] == codes[1] and len(codes[0]) == 7


def test_nothing_is_named_on_one_page_only() -> None:
    english, chinese = (named(text) - OTHER_PAGE for text in (ENGLISH, CHINESE))
    assert chinese - english == IN_CHINESE_ONLY
    assert english - chinese == set()
