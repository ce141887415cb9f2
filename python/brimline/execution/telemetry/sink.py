"""Owns listening to a command for those who look on from elsewhere, beside the screen, without holding up the load.

Whoever tells only puts what was told into a queue. A thread of its own adds it up and sends it.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from brimline.errors import UsageError
from brimline.execution.progress import ProgressSink, SoFar, Tick
from brimline.execution.telemetry.exposition import page
from brimline.execution.telemetry.metrics import Figures
from brimline.plan import Plan
from brimline.record import brimline_version
from brimline.record.model import Samples
from brimline.servers.addresses import read_address
from brimline.threads import Worker

if TYPE_CHECKING:
    from brimline.execution.telemetry.otlp import Collector

QUEUE_MAX = 1_000
"""News that wait at most; what comes while so many do is counted as lost."""
SEND_EVERY_S = 5.0
COLLECTOR_PATH = "/v1/metrics"
"""Where collectors take metrics by OTLP, unless an address has a path of its own."""
_STOP_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.2


class Telemetry:
    """A listener (`ProgressSink`) beside another one, `beside`.

    `prometheus`: host and port of a page; `otlp`: address of a collector. Nothing listens or is sent but while it is at
    work, which `at_work` says.
    """

    def __init__(
        self,
        beside: ProgressSink,
        *,
        prometheus: tuple[str, int] | None,
        otlp: str | None,
        send_every_s: float = SEND_EVERY_S,
    ) -> None:
        self._beside, self._prometheus, self._otlp, self._send_every_s = beside, prometheus, otlp, send_every_s
        self._figures = Figures(version=brimline_version())
        self._lock = threading.Lock()
        self._news: queue.SimpleQueue[Callable[[Figures], None]] = queue.SimpleQueue()
        self._lost = self._unreadable = 0
        self._users = 0
        self._began_ns = 0
        self._stopped = threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Hands out figures while the block lasts, and at its end the last ones; blocks may lie within each other.

        Raises UsageError where the page can't be, or the library isn't installed.
        """
        self._users += 1
        try:
            if self._users > 1:
                yield
                return
            with self._handing_out():
                yield
        finally:
            self._users -= 1

    def text(self) -> str:
        """The page of now."""
        with self._lock:
            return page(self._figures.metrics())

    def step(self, text: str) -> None:
        """Something begins that has no measure."""
        self._beside.step(text)

    def begin(self, title: str, plan: Plan) -> None:
        """A run begins."""
        self._tell(lambda figures: figures.begin(title, plan))
        self._beside.begin(title, plan)

    def tick(self, tick: Tick) -> None:
        """The run goes on."""
        self._tell(lambda figures: figures.tick(tick))
        self._beside.tick(tick)

    def samples(self, samples: Samples) -> None:
        """Intervals are complete."""
        if not self._tell(lambda figures: figures.add(samples)) and self._users:
            self._lost += len(samples["intervals"])  # only who measures counts here, and only the thread reads it
        self._beside.samples(samples)

    def end(self) -> None:
        """The run is over."""
        self._beside.end()

    def outcome(self, text: str) -> None:
        """What a run of an experiment showed."""
        self._beside.outcome(text)

    def so_far(self, tell: Callable[[], SoFar]) -> None:
        """What all runs show until now."""
        so_far = tell()
        self._tell(lambda figures: figures.so_far(so_far))
        self._beside.so_far(lambda: so_far)

    def over(self) -> None:
        """Nothing more is measured."""
        self._beside.over()

    def note(self, text: str) -> None:
        """Something to be remembered."""
        self._beside.note(text)

    def warning(self, text: str) -> None:
        """Something that has to be known."""
        self._beside.warning(text)

    def _tell(self, news: Callable[[Figures], None]) -> bool:
        if not self._users or self._news.qsize() >= QUEUE_MAX:
            return False
        self._news.put(news)
        return True

    @contextmanager
    def _handing_out(self) -> Iterator[None]:
        from brimline.execution.telemetry.otlp import Collector  # with a server of HTTP, of no use to other runs
        from brimline.execution.telemetry.page import Page

        self._began_ns = self._began_ns or time.time_ns()
        collector = None
        if self._otlp is not None:
            collector = Collector(self._otlp, version=brimline_version(), began_ns=self._began_ns)
        served = None if self._prometheus is None else Page(*self._prometheus, self.text)
        self._stopped.clear()
        adding = Worker(lambda: self._add_up(collector), name="adding up figures for others")
        try:
            adding.start()
            if served is not None:
                served.start()
            yield
        finally:
            self._stopped.set()
            adding.join(_STOP_WITHIN_S)
            if served is not None:
                served.stop()

    def _add_up(self, collector: "Collector | None") -> None:
        told_of_trouble = ""
        send_s = time.monotonic() + self._send_every_s
        while True:
            is_over = self._stopped.is_set()
            self._take_news(wait_s=0.0 if is_over else _LOOK_EVERY_S)
            if collector is not None and (is_over or time.monotonic() >= send_s):
                send_s = time.monotonic() + self._send_every_s
                with self._lock:
                    metrics = list(self._figures.metrics())
                trouble = collector.send(metrics)
                if trouble and not told_of_trouble:
                    told_of_trouble = trouble
                    self._beside.warning(f"--otlp: the collector did not take figures: {trouble}; the run goes on")
            if is_over:
                break
        if collector is not None:
            collector.close()

    def _take_news(self, *, wait_s: float) -> None:
        """All that waits; up to `wait_s` is waited for the first."""
        try:
            news = self._news.get(timeout=wait_s) if wait_s else self._news.get_nowait()
            while True:
                with self._lock:
                    try:
                        news(self._figures)
                    except Exception:  # of an unforeseen shape: it must end neither the others nor the thread
                        self._unreadable += 1
                    self._figures.lost_intervals = self._lost + self._unreadable
                news = self._news.get_nowait()
        except queue.Empty:
            return


def telemetry_beside(beside: ProgressSink, *, prometheus: str | None, otlp: str | None) -> ProgressSink:
    """Who listens where figures are wanted elsewhere, else `beside` itself. Raises UsageError: it is no address."""
    if (prometheus is None and otlp is None) or isinstance(beside, Telemetry):
        return beside
    return Telemetry(
        beside,
        prometheus=None if prometheus is None else _address(prometheus),
        otlp=None if otlp is None else _collector_url(otlp),
    )


def _address(text: str) -> tuple[str, int]:
    if (address := read_address(text, port_min=0)) is None:
        raise UsageError(f"--prometheus {text} is no address to listen at", hint="write one like 127.0.0.1:9464")
    return address


def _collector_url(text: str) -> str:
    try:
        url = urlsplit(text)
        known = url.scheme in ("http", "https") and url.hostname is not None and url.port != 0
    except ValueError:
        known = False
    if not known:
        raise UsageError("--otlp is no address of a collector", hint="write one like http://127.0.0.1:4318")
    if url.username is not None or url.password is not None:
        raise UsageError(
            "--otlp has a user or a password in it",
            hint="give headers by OTEL_EXPORTER_OTLP_HEADERS, as OpenTelemetry does",
        )
    return text if url.path.strip("/") else f"{url.scheme}://{url.netloc}{COLLECTOR_PATH}"


@contextmanager
def at_work(progress: ProgressSink) -> Iterator[None]:
    """Hands out figures while the block lasts, where `progress` is one who does."""
    if isinstance(progress, Telemetry):
        with progress.at_work():
            yield
    else:
        yield
