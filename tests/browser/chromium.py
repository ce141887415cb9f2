"""Drives headless Chromium through its debugging pipe (Chrome DevTools Protocol)."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
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
REPLY_TIMEOUT_S = 60.0
CHARTS_DRAWN = "document.readyState === 'complete' && document.documentElement.dataset.charts === 'drawn'"


def find_chromium() -> str | None:
    """Path of an installed Chromium, None when there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """One browser with a fresh profile and one page; a context manager that always ends the browser.

    `problems` collects what the page complained about (console errors and warnings, exceptions, refused
    loads); `requests` every address that it asked for.
    """

    def __init__(self, executable: str, profile: Path) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._buffer = b""
        self._next_id = 0
        self._session: str | None = None
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Out of the way of 3 and 4, which the protocol uses in the browser.
        inner_read, inner_write = (fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (to_browser, from_browser))

        def place_pipes() -> None:
            os.dup2(inner_read, 3)
            os.dup2(inner_write, 4)

        self._process = subprocess.Popen(
            [executable, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(3, 4),
            preexec_fn=place_pipes,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(inner_read)
        os.close(inner_write)
        os.close(to_browser)
        os.close(from_browser)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(
        self,
        page: Path | str,
        *,
        width: int,
        height: int = 900,
        offline: bool = True,
        medium: str = "",
        ready: str = CHARTS_DRAWN,
    ) -> None:
        """Shows a file from disk, or an address, in a window of that size and waits until it is `ready`.

        `medium` "print": laid out as on paper.
        """
        self._call("Emulation.setEmulatedMedia", media=medium)
        self.resize(width=width, height=height)
        throughput = 0 if offline else -1
        self._call(
            "Network.emulateNetworkConditions",
            offline=offline,
            latency=0,
            downloadThroughput=throughput,
            uploadThroughput=throughput,
        )
        self._call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        self.wait_for(ready)

    def resize(self, *, width: int, height: int) -> None:
        """Gives the window another size; one of less than 600 px is a phone's."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def wait_for(self, condition: str, *, timeout_s: float = 30.0) -> None:
        """Waits until a JavaScript expression is true."""
        deadline = time.monotonic() + timeout_s
        while not self.evaluate(condition):
            assert time.monotonic() < deadline, f"still false after {timeout_s} s: {condition}; {self.problems}"
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key of the keyboard: "Tab", "Enter", or the character that it writes."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, ord(key[0].upper()))
        known = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": code}
        self._call("Input.dispatchKeyEvent", type="keyDown", **known, **({"text": text} if text else {}))
        self._call("Input.dispatchKeyEvent", type="keyUp", **known)

    def scripts(self, *, allowed: bool) -> None:
        """Whether pages that are opened from now on may run scripts."""
        self._call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def screenshot(self, path: Path) -> None:
        """The whole page as a picture."""
        answer = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def print(self, path: Path) -> None:
        """The page as it is printed."""
        answer = self._call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        self._session = None
        self._call("Browser.close")
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._next_id += 1
        message: dict[str, Any] = {"id": self._next_id, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + REPLY_TIMEOUT_S
        while time.monotonic() < deadline:
            answer = self._receive()
            if answer.get("id") == self._next_id:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)
        raise AssertionError(f"no answer to {method}")

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._read, 1 << 20)
            assert data, "the browser ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(str(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.problems.append(str(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.problems.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
