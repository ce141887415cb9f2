"""The token of `brimline watch`: what can be sent as it stands, and that no error repeats it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from brimline.errors import UsageError
from brimline.servers.password import watch_token


def of_variable(text: str, _: Path) -> str:
    return watch_token(None, {"BRIMLINE_WATCH_TOKEN": text}, option="--token-file")


def of_file(text: str, directory: Path) -> str:
    (directory / "token").write_bytes(text.encode())
    return watch_token(directory / "token", {}, option="--token-file")


Read = Callable[[str, Path], str]
both = pytest.mark.parametrize("read", [of_variable, of_file])


@both
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_the_end_of_a_line_is_none_of_it(read: Read, end: str, tmp_path: Path) -> None:
    assert read(f"geheim to-ken~!{end}", tmp_path) == "geheim to-ken~!"


@both
@pytest.mark.parametrize(
    "token", ["geheim\rx", "geheim\x1b", "geheim\x7f", "gehéim", "geheim密码", "\ufeffgeheim", "geheim\0"]
)
def test_what_no_header_carries_is_refused_and_not_repeated(read: Read, token: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has a character that is no printable ASCII") as refused:
        read(token, tmp_path)
    assert "geh" not in f"{refused.value.message}{refused.value.hint}"


@both
@pytest.mark.parametrize(("length", "said"), [(1025, "longer than 1024 characters"), (100_000, "longer than")])
def test_one_that_is_too_long_is_called_so(read: Read, length: int, said: str, tmp_path: Path) -> None:
    assert len(read("x" * 1024, tmp_path)) == 1024
    with pytest.raises(UsageError, match=said):
        read("x" * length, tmp_path)
