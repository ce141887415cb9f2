"""Owns what browser tests do with a page of headless Chromium, and what they hear of it."""

import base64
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from brimline.errors import TargetError
from brimline.study.writing.browser import Browser

CHARTS_DRAWN = "document.readyState === 'complete' && document.documentElement.dataset.charts === 'drawn'"


class Chromium(Browser):
    """One browser with a fresh profile and one page; a context manager that always ends the browser.

    `problems` collects what the page complained about (console errors and warnings, exceptions, refused
    loads); `requests` every address that it asked for.
    """

    def __init__(self, executable: str) -> None:
        super().__init__(executable)
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.show_new_page()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

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
        self.call("Emulation.setEmulatedMedia", media=medium)
        self.resize(width=width, height=height)
        throughput = 0 if offline else -1
        self.call(
            "Network.emulateNetworkConditions",
            offline=offline,
            latency=0,
            downloadThroughput=throughput,
            uploadThroughput=throughput,
        )
        self.call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        self.wait_for(ready)

    def resize(self, *, width: int, height: int) -> None:
        """Gives the window another size; one of less than 600 px is a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def wait_for(self, condition: str, *, timeout_s: float = 30.0) -> None:
        """Waits until a JavaScript expression is true."""
        deadline = time.monotonic() + timeout_s
        while not self._is_true(condition):
            assert time.monotonic() < deadline, f"still false after {timeout_s} s: {condition}; {self.problems}"
            time.sleep(0.05)

    def _is_true(self, condition: str) -> bool:
        try:
            return bool(self.evaluate(condition))
        except TargetError as error:
            if "navigated" not in error.message:
                raise
            return False  # the page was left for another while it was asked

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key of the keyboard: "Tab", "Enter", or the character that it writes."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, ord(key[0].upper()))
        known = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **known, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def scripts(self, *, allowed: bool) -> None:
        """Whether pages that are opened from now on may run scripts."""
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def screenshot(self, path: Path) -> None:
        """The whole page as a picture."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def print(self, path: Path) -> None:
        """The page as it is printed."""
        answer = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """A browser that ended by itself fails the tests."""
        self.close()

    def noted(self, event: dict[str, Any]) -> None:
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
