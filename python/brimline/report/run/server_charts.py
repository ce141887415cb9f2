"""Charts of what the server and the generator did meanwhile, under the same time axis as throughput and latency."""

from collections.abc import Sequence

from brimline.analysis.server_window import ServerWindow
from brimline.record.model import IntervalRow, RunRecord
from brimline.report.panels import Line, Marked, Point, panel
from brimline.report.run.server_series import cpu_share, gauge, grown_between, rate, ratio_of_growth, share
from brimline.report.time_axis import TimeSpan
from brimline.report.view import Chart
from brimline.units import NS_PER_S

BLUE, GREEN, AMBER, VIOLET, RED, GREY = "#14477e", "#0b7a6b", "#a86a00", "#7a4fa3", "#b4322a", "#8a94a3"
_MEGABYTES = 1e-6
_MS_PER_US = 1e-3
_SHARE_OF_MS = 0.1
"""From ms per s to per cent."""


def server_charts(record: RunRecord, span: TimeSpan) -> list[Chart]:
    """One chart for each thing that the monitor saw; none for what it didn't see."""
    window = ServerWindow.of(record.server, start_ns=0, end_ns=round(span.end_s * NS_PER_S))
    charts = [
        _cpu(window, record.intervals, span),
        _own_latency(window, span),
        _cache(window, span),
        _buffer_pool(window, span),
        _waiting(window, span),
        _admission(window, span),
        _connections(window, span),
        _operations(window, span),
        _disk_busy(window, span),
        _disk_traffic(window, span),
        _network(window, span),
        _replication(window, span),
    ]
    return [chart for chart in charts if chart is not None]


def _cpu(window: ServerWindow, intervals: Sequence[IntervalRow], span: TimeSpan) -> Chart | None:
    lines = [
        Line("server", BLUE, cpu_share(window, "server_cpu_ns", "server_cpu_count")),
        Line("host, all programs", GREY, cpu_share(window, "host_busy_ns", "host_cpu_count"), dashed=True),
        Line("host, waiting for disk", RED, cpu_share(window, "host_iowait_ns", "host_cpu_count")),
    ]
    generator = Line("busiest generator thread", AMBER, _busiest_thread(intervals, span))
    return panel(
        "cpu",
        "CPU of server and generator",
        "% of its CPUs",
        [*lines, generator],
        span,
        unit="%",
        caption="Server: part of the CPUs that it may use. Generator: its busiest thread, part of one CPU.",
    )


def _busiest_thread(intervals: Sequence[IntervalRow], span: TimeSpan) -> list[Point]:
    return [
        (
            (row["start_ns"] + row["end_ns"]) / 2 / NS_PER_S,
            min(100.0, 100.0 * row["busiest_thread_cpu_ns"] / max(row["end_ns"] - row["start_ns"], 1)),
        )
        for row in intervals
        if row["end_ns"] <= span.end_s * NS_PER_S and row["phase"] != "drain"
    ]


def _own_latency(window: ServerWindow, span: TimeSpan) -> Chart | None:
    kinds = (("reads", BLUE), ("writes", GREEN), ("commands", AMBER))
    return panel(
        "server-latency",
        "Latency inside the server",
        "mean time, ms",
        [
            Line(kind, color, ratio_of_growth(window, f"{kind}_latency_us", f"{kind}_ops", scale=_MS_PER_US))
            for kind, color in kinds
        ],
        span,
        unit="ms",
        caption="What the server itself counts (opLatencies): what clients see beyond it is network, connections "
        "and the client. Means; the server has no percentiles of a short time.",
    )


def _cache(window: ServerWindow, span: TimeSpan) -> Chart | None:
    return _memory(
        window,
        span,
        "cache",
        "WiredTiger cache and checkpoints",
        "% of the cache",
        [Line("dirty", RED, share(window, "cache_bytes_dirty", "cache_bytes_max", scale=100.0))],
        "From 80 % used or 5 % dirty on the server evicts in the background; from 95 % used or 20 % dirty on "
        "operations themselves have to evict. Those are WiredTiger's defaults.",
    )


def _buffer_pool(window: ServerWindow, span: TimeSpan) -> Chart | None:
    unwritten = share(window, "buffer_bytes_dirty", "buffer_bytes_max", scale=100.0)
    return _memory(
        window,
        span,
        "buffer",
        "Buffer pool and checkpoints",
        "% of the pool, and of the pages asked for",
        [
            Line("changed and not yet written", AMBER, unwritten),
            Line("not in the pool", RED, ratio_of_growth(window, "buffer_misses", "buffer_requests", scale=100.0)),
        ],
        "Pages that statements asked for and that were not in the pool had to be read from the system, whose "
        "own cache may have had them.",
    )


def _memory(
    window: ServerWindow, span: TimeSpan, which: str, title: str, axis: str, lines: Sequence[Line], caption: str
) -> Chart | None:
    """How full the memory that a server keeps data in is, and what else is said of it; checkpoints are marked."""
    used = share(window, f"{which}_bytes_used", f"{which}_bytes_max", scale=100.0)
    return panel(
        which,
        title,
        axis,
        [Line("used", BLUE, used), *lines],
        span,
        unit="%",
        marked=Marked("checkpoint", grown_between(window, "checkpoints", while_gauge="checkpoint_running")),
        caption=caption,
    )


def _waiting(window: ServerWindow, span: TimeSpan) -> Chart | None:
    return panel(
        "sql-waits",
        "Sessions that wait",
        "sessions",
        [
            Line("for a lock", RED, gauge(window, "lock_waiters")),
            Line("for the log", AMBER, gauge(window, "log_waiters")),
        ],
        span,
        caption="At each look: what comes and goes in between isn't seen.",
    )


def _admission(window: ServerWindow, span: TimeSpan) -> Chart | None:
    return panel(
        "tickets",
        "Tickets and queues",
        "operations",
        [
            Line("reads at work", BLUE, gauge(window, "read_tickets_out")),
            Line("writes at work", GREEN, gauge(window, "write_tickets_out")),
            Line("reads waiting", AMBER, gauge(window, "read_queue"), dashed=True),
            Line("writes waiting", RED, gauge(window, "write_queue"), dashed=True),
        ],
        span,
        caption="Operations that hold a ticket of the storage engine, and those that wait for one, at each look: "
        "what comes and goes in between isn't seen.",
    )


def _connections(window: ServerWindow, span: TimeSpan) -> Chart | None:
    return panel(
        "server-connections",
        "Connections of the server",
        "connections",
        [
            Line("open", BLUE, gauge(window, "connections")),
            Line("at work", AMBER, gauge(window, "connections_active")),
        ],
        span,
        caption="All clients together, the monitor's own connection included.",
    )


def _operations(window: ServerWindow, span: TimeSpan) -> Chart | None:
    kinds = (
        ("query", BLUE),
        ("insert", GREEN),
        ("update", AMBER),
        ("delete", RED),
        ("getmore", VIOLET),
        ("command", GREY),
    )
    lines = [Line(kind, color, rate(window, kind)) for kind, color in kinds]
    return panel(
        "opcounters",
        "Operations that the server counted",
        "operations per second",
        [line for line in lines if any(value for _, value in line.points)],
        span,
        unit="/s",
        caption="opcounters, whoever sent them; a find is a query, each inserted document an insert.",
    )


def _disk_busy(window: ServerWindow, span: TimeSpan) -> Chart | None:
    return panel(
        "disk-busy",
        "Disk of the server's data: busy",
        "% of the time",
        [Line("busy", BLUE, rate(window, "disk_busy_ms", scale=_SHARE_OF_MS))],
        span,
        unit="%",
        caption="Time with at least one request in flight. A disk that serves many at once can be busy all the time "
        "and still have room.",
    )


def _disk_traffic(window: ServerWindow, span: TimeSpan) -> Chart | None:
    return panel(
        "disk-traffic",
        "Disk of the server's data: traffic",
        "MB/s",
        [
            Line("read", BLUE, rate(window, "disk_bytes_read", scale=_MEGABYTES)),
            Line("written", GREEN, rate(window, "disk_bytes_written", scale=_MEGABYTES)),
        ],
        span,
        unit="MB/s",
        caption="All programs of the host together.",
    )


def _network(window: ServerWindow, span: TimeSpan) -> Chart | None:
    return panel(
        "network",
        "Network traffic of the server",
        "MB/s",
        [
            Line("received", BLUE, rate(window, "network_bytes_in", scale=_MEGABYTES)),
            Line("sent", GREEN, rate(window, "network_bytes_out", scale=_MEGABYTES)),
        ],
        span,
        unit="MB/s",
        caption="What the server process received and sent, whoever the client.",
    )


def _replication(window: ServerWindow, span: TimeSpan) -> Chart | None:
    lines = [
        Line("slowest member", RED, gauge(window, "replication_lag_slowest_ms", scale=1e-3)),
        Line("majority", BLUE, gauge(window, "replication_lag_majority_ms", scale=1e-3)),
    ]
    return panel(
        "replication",
        "Replication lag",
        "s behind the primary",
        lines,
        span,
        unit="s",
        caption="How far the secondaries are behind the primary.",
    )
