"""Owns what a headless Chromium makes of a page: a PDF, and parts of it as pictures."""

import base64
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brimline.errors import TargetError
from brimline.study.writing.browser import DEADLINE_S, Browser

_DRAWN = "document.readyState === 'complete' && (document.documentElement.dataset.charts === 'drawn' || {without})"
_WITHOUT_CHARTS = "!document.querySelector('.plot')"
_WIDTH_PX, _HEIGHT_PX, _SCALE = 900, 1200, 2


class Chromium(Browser):
    """A browser with one page. Everything raises TargetError."""

    def open(self, path: Path) -> None:
        """Shows a file, and waits until its charts are drawn."""
        self.show_new_page()
        self.call("Page.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=_WIDTH_PX, height=_HEIGHT_PX, deviceScaleFactor=1, mobile=False
        )
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + DEADLINE_S
        while not self._evaluate(_DRAWN.format(without=_WITHOUT_CHARTS)):
            if time.monotonic() > deadline:
                raise TargetError(f"Chromium did not draw the charts of {path} in time", hint="open it in a browser")
            time.sleep(0.05)

    def pictures(self, selectors: Sequence[str]) -> list[bytes]:
        """What each selector is of, all its elements together, as PNG, twice as fine as a screen."""
        return [self._picture(each) for each in selectors]

    def pdf(self, *, footer: str) -> bytes:
        """The page as it is printed on A4, with page numbers."""
        answer = self.call(
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
            f"(() => {{ const boxes = [...document.querySelectorAll({json.dumps(selector)})]"
            ".map(each => each.getBoundingClientRect());"
            "const x = Math.min(...boxes.map(each => each.left)), y = Math.min(...boxes.map(each => each.top));"
            "return {x: x + scrollX, y: y + scrollY, width: Math.max(...boxes.map(each => each.right)) - x,"
            "height: Math.max(...boxes.map(each => each.bottom)) - y}; })()"
        )
        answer = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={**box, "scale": _SCALE}
        )
        return base64.b64decode(answer["data"])

    def _evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise TargetError("Chromium can't read the page that brimline wrote", hint="open the HTML in a browser")
        return answer["result"].get("value")
