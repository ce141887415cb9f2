"""Owns a headless Chromium that is driven through its debugging pipe (Chrome DevTools Protocol)."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from brimline.doctor.documents import CHROMIUM_NAMES
from brimline.errors import BrimlineError, TargetError

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
DEADLINE_S = 60.0
_END_WITHIN_S = 10.0


def find_chromium() -> str | None:
    """Path of an installed Chromium or Chrome, None where there is none."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with a fresh profile, for a `with` block. Everything raises TargetError."""

    def __init__(self, executable: str) -> None:
        self._buffer, self._next_id, self._session = b"", 0, ""
        self._profile = tempfile.TemporaryDirectory(prefix="brimline-chromium-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Out of the way of 3 and 4, which the protocol uses in the browser.
        inner_read, inner_write = (fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (to_browser, from_browser))

        def place_pipes() -> None:
            os.dup2(inner_read, 3)
            os.dup2(inner_write, 4)

        try:
            self._process = subprocess.Popen(  # noqa: S603 (a browser that was found by its name)
                [executable, *_FLAGS, f"--user-data-dir={self._profile.name}"],
                pass_fds=(3, 4),
                preexec_fn=place_pipes,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, subprocess.SubprocessError) as error:
            os.close(self._read)
            os.close(self._write)
            self._profile.cleanup()
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise TargetError(f"{executable} does not start: {why}", hint="see that it starts by hand") from error
        finally:
            for each in (inner_read, inner_write, to_browser, from_browser):
                os.close(each)

    def show_new_page(self) -> None:
        """Opens an empty page, which all calls are about from then on."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def noted(self, event: dict[str, Any]) -> None:
        """What the browser says of itself while an answer is waited for."""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a method of the protocol, waited for at most `DEADLINE_S`."""
        self._next_id += 1
        message: dict[str, Any] = {"id": self._next_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._write, json.dumps(message).encode() + b"\0")
            deadline = time.monotonic() + DEADLINE_S
            while (answer := self._receive(deadline)).get("id") != self._next_id:
                self.noted(answer)
        except OSError as error:
            raise TargetError(f"Chromium ended: {error}", hint="the HTML has all that the PDF would have") from error
        if "error" in answer:
            raise TargetError(
                f"Chromium refuses {method}: {answer['error'].get('message')}", hint="the HTML has all that it shows"
            )
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise OSError("it does not answer")
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def close(self) -> None:
        """Ends the browser, whatever it says."""
        self._session = ""
        try:
            self.call("Browser.close")
            self._process.wait(timeout=_END_WITHIN_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._write)
            os.close(self._read)
            self._profile.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(BrimlineError):
            self.close()
