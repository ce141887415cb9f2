"""Owns a terminal for tests: a pseudo-terminal of a known size, and what its screen shows in the end."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence

_BEGUN = re.compile(r"\x1b(\[[?\d;]*)?$")
"""A control sequence whose end is still to come."""
_CONTROL = re.compile(r"\x1b\[(?P<private>\?)?(?P<numbers>[\d;]*)(?P<command>[A-Za-z])")


class Screen:
    """What stands on a terminal of so many columns after a text: enough of a VT100 for what brimline writes."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.cursor_shown = True
        self._rows: list[list[str]] = [[]]
        self._begun = ""
        self._row = self._column = 0

    @property
    def lines(self) -> list[str]:
        """All that was written and not drawn over, without blanks at the ends."""
        return [re.sub(r"\s+$", "", "".join(row)) for row in self._rows]

    def write(self, text: str) -> None:
        """Text with control sequences. Raises ValueError for one that isn't known here."""
        text = self._begun + text
        begun = _BEGUN.search(text)
        self._begun = "" if begun is None else begun[0]
        text = text.removesuffix(self._begun)
        at = 0
        while at < len(text):
            if found := _CONTROL.match(text, at):
                self._control(found)
                at = found.end()
            else:
                self._put(text[at])
                at += 1

    def _control(self, found: re.Match[str]) -> None:
        command, number = found["command"], int(found["numbers"].split(";")[0] or 1)
        if found["private"] and command in "hl":
            self.cursor_shown = command == "h" if number == 25 else self.cursor_shown
        elif command == "A":
            self._row = max(self._row - number, 0)
        elif command == "K":
            self._rows[self._row] = []
        elif command != "m":
            raise ValueError(f"unknown control sequence {found[0]!r}")

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._down()
        else:
            if self._column == self.columns:
                self._column = 0
                self._down()
            row = self._rows[self._row]
            row += " " * (self._column + 1 - len(row))
            row[self._column] = character
            self._column += 1

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append([])


class Terminal:
    """A process on a pseudo-terminal of its own."""

    def __init__(
        self, command: Sequence[str], *, columns: int, rows: int = 40, environment: Mapping[str, str] | None = None
    ) -> None:
        self.screen = Screen(columns)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.frames: list[list[str]] = []
        """The screen after each piece that was read."""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        names = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**names, "TERM": "xterm-256color", **(environment or {})},
            start_new_session=True,
            close_fds=True,
        )
        os.close(slave)

    def until(self, seen: Callable[[list[str]], bool], *, within_s: float = 20.0) -> list[str]:
        """Reads until the screen is as wanted and returns it; a process that has ended is enough as well."""
        ends_s = time.monotonic() + within_s
        while time.monotonic() < ends_s:
            ready, _, _ = select.select([self._master], [], [], 0.1)
            if ready:
                try:
                    read = os.read(self._master, 65536)
                except OSError:  # nobody writes any more
                    read = b""
                if not read:
                    break
                self.screen.write(self._decoder.decode(read))
                self.frames.append(self.screen.lines)
            if seen(self.screen.lines):
                break
        return self.screen.lines

    def ended(self, *, within_s: float = 20.0) -> int:
        """Reads to the end; the exit code."""
        self.until(lambda _: False, within_s=within_s)
        return self.process.wait(timeout=within_s)

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.kill(self.process.pid, signal.SIGINT)

    def hang_up(self) -> None:
        """The terminal is gone: who wrote to it is told, and can write no more."""
        self._close()
        os.kill(self.process.pid, signal.SIGHUP)

    def close(self) -> None:
        """Ends the process if it is there."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._close()

    def _close(self) -> None:
        if self._master >= 0:
            os.close(self._master)
        self._master = -1
