"""Owns headless Chromium, driven through its debugging pipe: a page as PDF, and parts of a page as pictures."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from brimline.doctor.documents import CHROMIUM_NAMES
from brimline.errors import BrimlineError, TargetError

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_DEADLINE_S = 60.0
_DRAWN = "document.readyState === 'complete' && (document.documentElement.dataset.charts === 'drawn' || {without})"
_WITHOUT_CHARTS = "!document.querySelector('.plot')"
_WIDTH_PX, _HEIGHT_PX, _SCALE = 900, 1200, 2


def find_chromium() -> str | None:
    """Path of an installed Chromium or Chrome, None where there is none."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


class Chromium:
    """One browser with a fresh profile and one page, for a `with` block. Everything raises TargetError."""

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

    def open(self, path: Path) -> None:
        """Shows a file, and waits until its charts are drawn."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call(
            "Emulation.setDeviceMetricsOverride", width=_WIDTH_PX, height=_HEIGHT_PX, deviceScaleFactor=1, mobile=False
        )
        self._call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + _DEADLINE_S
        while not self._evaluate(_DRAWN.format(without=_WITHOUT_CHARTS)):
            if time.monotonic() > deadline:
                raise TargetError(f"Chromium did not draw the charts of {path} in time", hint="open it in a browser")
            time.sleep(0.05)

    def pictures(self, selectors: Sequence[str]) -> list[bytes]:
        """Each element as PNG, twice as fine as a screen."""
        return [self._picture(each) for each in selectors]

    def pdf(self, *, footer: str) -> bytes:
        """The page as it is printed on A4, with page numbers."""
        answer = self._call(
            "Page.printToPDF",
            printBackground=True,
            preferCSSPageSize=True,
            displayHeaderFooter=True,
            headerTemplate="<span></span>",
            footerTemplate=footer,
            generateDocumentOutline=True,
        )
        return base64.b64decode(answer["data"])

    def _picture(self, selector: str) -> bytes:
        box = self._evaluate(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            "return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height}; })()"
        )
        answer = self._call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={**box, "scale": _SCALE}
        )
        return base64.b64decode(answer["data"])

    def _evaluate(self, expression: str) -> Any:
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise TargetError("Chromium can't read the page that brimline wrote", hint="open the HTML in a browser")
        return answer["result"].get("value")

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._next_id += 1
        message: dict[str, Any] = {"id": self._next_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._write, json.dumps(message).encode() + b"\0")
            while True:
                answer = self._receive()
                if answer.get("id") == self._next_id:
                    break
        except OSError as error:
            raise TargetError(f"Chromium ended: {error}", hint="the HTML has all that the PDF would have") from error
        if "error" in answer:
            raise TargetError(
                f"Chromium refuses {method}: {answer['error'].get('message')}", hint="the HTML has all that it shows"
            )
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], _DEADLINE_S)
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise OSError("it does not answer")
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._session = ""
        try:
            self._call("Browser.close")
            self._process.wait(timeout=10)
        except (BrimlineError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()
