"""Blocks that reports of every kind share: what never went out, checks, environment, definitions, how to reproduce."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from brimline.analysis.finding import Finding, Standing
from brimline.errors import UsageError
from brimline.monitor import Absence
from brimline.record.model import Environment
from brimline.report.view import Badge, Cell, Code, Column, Fact, Facts, Section, Table, Text, Tone
from brimline.servers.lab.names import CLIENT_ROUTED
from brimline.servers.lab.network import Network
from brimline.units import UNKNOWN_TEXT, format_bytes, format_count
from brimline.wording import joined, message

CHECK_NAMES = {
    "ended": "Ran to its end",
    "conservation": "Nothing lost",
    "operation_log": "Every operation logged",
    "unaltered": "Unaltered",
    "sent": "Sent as planned",
    "opcounters": "Server counts agree",
    "host_quiet": "Server's host quiet",
    "generator_cpu": "Generator CPU",
    "generator_headroom": "Generator headroom",
    "generator_lag": "Generator on time",
    "kept_in_flight": "Kept in flight",
    "standstills": "Generator never stood still",
    "runner_standstills": "Driver never stood still",
    "arrival_times": "Replies timed by arrival",
    "monitor_cost": "Watching cost little",
    "outages": "Always available",
    "connections": "All connections up",
    "watched": "Server watched",
    "host_watched": "Server's host watched",
    "followed": "Same server watched",
    "errors": "Errors",
    "redirects": "Redirects followed or expected",
    "misses": "Documents found",
    "contents": "Documents as written",
    "collections": "Collections there to the end",
    "distribution": "Shards make up the whole",
    "samples": "Enough samples",
    "steady_state": "Steady state",
    "clock": "Clock",
    "resolution": "Resolution of times",
    "count": "Count on the server",
    "rejected": "Rejected records",
    "files": "Files unchanged",
    "inputs": "Inputs unchanged",
    "text": "Text is UTF-8",
    "rows": "A cell for each column",
    "lines": "Lines end with LF",
    "scan_counts": "Counts are the server's",
    "scan_client": "Draining cost little",
}
CHECK_FAULTS = {
    "ended": "Did not run to its end",
    "conservation": "Not all is accounted for",
    "operation_log": "Operations missing in their log",
    "unaltered": "Altered since it was sealed",
    "sent": "Not all was sent",
    "opcounters": "Server counts differ",
    "host_quiet": "Host full of other programs",
    "generator_cpu": "Generator CPU full",
    "generator_headroom": "Generator without headroom",
    "generator_lag": "Generator late",
    "kept_in_flight": "Replies lay unread",
    "standstills": "Generator stood still",
    "runner_standstills": "Driver stood still",
    "arrival_times": "Replies without a time of arrival",
    "monitor_cost": "Watching cost much",
    "outages": "Not always available",
    "connections": "Not all connections up",
    "followed": "Another server watched",
    "errors": "Operations failed",
    "redirects": "Redirects not followed",
    "misses": "Documents not found",
    "contents": "Documents not as written",
    "collections": "A collection is gone",
    "distribution": "Shards don't make up the whole",
    "samples": "Too few samples",
    "steady_state": "No steady state",
    "clock": "Clock hides stalls",
    "resolution": "Coarse times",
    "count": "Count on the server differs",
    "rejected": "Records rejected",
    "files": "Files changed",
    "inputs": "Inputs changed",
    "text": "Text isn't UTF-8",
    "rows": "Rows with more or fewer cells",
    "lines": "Lines don't end with LF",
    "scan_counts": "Counts aren't the server's",
    "scan_client": "Draining cost much",
}
"""What a check that failed or warned is called: its name says what is so where it passed."""
WAIT_FOR_QUIET = "wait until the server's host is quiet, and measure again"
"""What to do about figures of a host that other programs filled: more of them, or longer ones, would not help."""
WAIT_FOR_QUIET_AND_LONGER = "wait until the server's host is quiet, and repeat it for longer: --duration"
"""What to do where there were too few besides."""
METRICS_NAMED = 8
"""Metrics that a list names; of a server elsewhere dozens are absent."""
_TONES: Mapping[Standing, Tone] = {
    Standing.PASS: "pass",
    Standing.WARN: "warn",
    Standing.FAIL: "fail",
    Standing.UNKNOWN: "muted",
}

DEFINITIONS = (
    Fact(
        label="Response time",
        value="from the instant an operation was due to its answer: what a user feels. "
        "Exists only when load is offered at a rate.",
    ),
    Fact(
        label="Service time",
        value="from sending to the answer: what server and network took. "
        "Hides the wait before sending, so a stalled server looks fine.",
    ),
    Fact(
        label="Lag",
        value="from due to sent: what the generator, or the full set of connections of one of its threads, added.",
    ),
    Fact(
        label="Closed loop",
        value="each connection sends again when the generator has taken its answer, which may lie a moment so that "
        "several are taken at once; what was in flight is measured. "
        "Load adapts to the server; only service time exists.",
    ),
    Fact(
        label="Sustained throughput",
        value="the highest offered rate at which the objective holds in at least 9 of 10 windows, or in another share "
        "that was asked for. In such a window work doesn't pile up, and at least 99 % is answered.",
    ),
    Fact(
        label="Knee",
        value="the smallest number of connections with at least 95 % of the highest throughput.",
    ),
    Fact(
        label="p99",
        value="99 % of all operations of the measured window were at most this slow; "
        "computed from every one of them, never averaged. One that never completed counts as slower than all that did.",
    ),
    Fact(
        label="95 % CI",
        value="confidence interval: made in a way that holds the true value in 95 of 100 repetitions "
        "under the same conditions.",
    ),
)


def instant_text(unix_ns: int) -> str:
    """An instant as reports write it."""
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def unsent_badge(count: int) -> Badge:
    """How many operations were planned and never went out: a figure must not be read without it."""
    return Badge(text=message("{count} never sent", count=format_count(count)), tone="fail")


def definitions(facts: Sequence[Fact] = DEFINITIONS) -> Section:
    """What the words of the report mean."""
    return Section(
        id="definitions",
        title="What the words mean",
        short="Definitions",
        blocks=[Facts(title="", facts=facts)],
    )


RUN_CHECKS_INTRO = "A failed check makes the run invalid, whatever its figures say."
SEARCH_CHECKS_INTRO = (
    "Each check with its worst result over all probes of the server. A probe that failed one is not used, "
    "unless it passed in spite of a late generator."
)
SWEEP_CHECKS_INTRO = (
    "Each check with its worst result over all runs. Connections at which one failed are no part of the plateau; "
    "where the highest throughput is among them, the sweep gives no figure."
)


def checks(findings: Sequence[Finding], *, intro: str) -> Section:
    """Whether the figures may be believed."""
    failed = [finding for finding in findings if finding.verdict is Standing.FAIL]
    return Section(
        id="validity",
        title="Can the figures be believed?",
        short="Validity",
        intro=intro,
        blocks=[
            Table(
                columns=[
                    Column(label="Check", numeric=False, leading=True),
                    Column(label="Result", numeric=False, tag=True),
                    Column(label="Evidence", numeric=False),
                ],
                rows=[
                    [
                        Cell(text=_check_name(finding)),
                        Cell(text=finding.verdict.value, tone=_TONES[finding.verdict]),
                        Cell(text=finding.evidence),
                    ]
                    for finding in findings
                ],
                caption=message("{count} checks, {failed} failed", count=len(findings), failed=len(failed)),
            )
        ],
    )


def _check_name(finding: Finding) -> str:
    """What it is called; where it failed or warned, by its fault."""
    names = CHECK_NAMES
    if finding.verdict in (Standing.FAIL, Standing.WARN):
        names = CHECK_NAMES | CHECK_FAULTS
    return names.get(finding.name, finding.name.replace("_", " ").capitalize())


def environment(environment: Environment, *, more: Sequence[Facts] = ()) -> Section:
    """Where it ran."""
    blocks = [
        Facts(title="Generator host", facts=_host_facts(environment)),
        *(Facts(title="Server", facts=_server_facts(environment)) for _ in range(1) if environment.get("server")),
        *more,
    ]
    return Section(
        id="environment",
        title="Where it ran",
        short="Environment",
        blocks=[block for block in blocks if block.facts],
    )


def not_watched(absences: Sequence[Absence]) -> Facts:
    """What the monitor has no figures for, and why; without facts where it had all."""
    return Facts(
        title="Not watched",
        facts=[Fact(label="", value=each.reason, note=_some_of(each.metrics)) for each in absences],
    )


def _some_of(metrics: Sequence[str]) -> str:
    named = ", ".join(metrics[:METRICS_NAMED])
    if len(metrics) <= METRICS_NAMED:
        return named
    return message("{named} and {more} more, see server.json", named=named, more=len(metrics) - METRICS_NAMED)


def reproduce(command: str, spec_text: str, facts: Sequence[Fact]) -> Section:
    """How to do it again."""
    blocks: list[Code | Facts | Text] = [Code(text=command, title="Command")]
    if facts:
        blocks.append(Facts(title="Identity", facts=facts))
    if spec_text.strip():
        blocks.append(Code(text=spec_text.rstrip(), title="Workload (spec.yaml)"))
    return Section(id="reproduce", title="Do it again", short="Reproduce", blocks=blocks)


def _host_facts(environment: Environment) -> list[Fact]:
    host = _mapping(environment, "host")
    container = _mapping(environment, "container")
    facts = [
        _fact("CPU", _cpu_text(host)),
        _fact("Memory", _bytes(host.get("memory_bytes"))),
        _fact("System", _joined(host.get("system"), host.get("kernel"), host.get("architecture"))),
        _fact("CPU governor", host.get("cpu_governor")),
        _fact("Transparent huge pages", host.get("transparent_huge_pages")),
        _fact("Load average at the start", host.get("load_average_1min")),
        _fact("Container", container.get("kind")),
        _fact("CPU limit", _cores(container.get("cpu_limit_cores"))),
        _fact("Memory limit", _bytes(container.get("memory_limit_bytes"))),
        _fact("brimline", _mapping(environment, "brimline").get("version")),
        _fact("Python", _mapping(environment, "python").get("version")),
        _fact("Captured", environment.get("captured_at")),
    ]
    return [fact for fact in facts if fact.value]


def _server_facts(environment: Environment) -> list[Fact]:
    """What the server said about itself, as far as it is known.

    Replies of buildInfo, hostInfo and getCmdLineOpts.
    """
    server = _mapping(environment, "server")
    build = _mapping(server, "buildInfo") or server
    command_line = _mapping(server, "getCmdLineOpts")
    argv = command_line.get("argv")
    facts = [
        _fact("Version", build.get("version")),
        _fact("Commit", build.get("gitVersion")),
        _fact("Storage engine", server.get("storage_engine") or _mapping(server, "storageEngine").get("name")),
        _fact("Address", environment.get("uri")),
        _fact("Host", _mapping(_mapping(server, "hostInfo"), "system").get("cpuArch")),
        _fact("Topology", _topology(server)),
        _fact("Network", _network(server)),
        _fact("Messages compressed by", server.get("compressor")),
        _fact("Sessions", "every command in one, as an official driver's" if server.get("sessions") else None),
        _fact("Command line", " ".join(map(str, argv)) if isinstance(argv, list) else None),
        *_service_facts(server),
        *_setting_facts(server),
    ]
    return [fact for fact in facts if fact.value]


def _service_facts(server: Mapping[str, Any]) -> list[Fact]:
    """What an HTTP service said of itself when it was contacted."""
    if server.get("engine") != "HTTP":
        return []
    return [
        _fact("Server", server.get("server")),
        _fact("HTTP", server.get("http")),
        _fact("TLS", server.get("tls")),
    ]


def _setting_facts(server: Mapping[str, Any]) -> list[Fact]:
    """Settings of an SQL database, by which durability and speed are what they are."""
    settings = _mapping(server, "settings")
    told = ", ".join(f"{name}={value}" for name, value in settings.items())
    return [_fact("Settings", told or None), _fact("Isolation of transactions", server.get("isolation"))]


def sizes(server_facts: Mapping[str, Any]) -> Facts:
    """How large an SQL database and its table are before and after; without facts where that isn't known."""
    before, after = (_mapping(_mapping(server_facts, when), "sql") for when in ("before", "after"))
    facts = []
    for part, label in (("table", "Table"), ("database", "Database")):
        for name, words in _SIZES.items():
            first, last = (_mapping(each, part).get(name) for each in (before, after))
            if isinstance(first, int) and isinstance(last, int):
                value = message("{before}, in the end {after}", before=format_bytes(first), after=format_bytes(last))
                facts.append(Fact(label=message("{part}: {what}", part=label, what=words), value=value))
    return Facts(title="Size on disk", facts=facts)


_SIZES = {
    "data_bytes": "rows",
    "index_bytes": "indexes",
    "file_bytes": "file",
    "total_bytes": "all",
}


def subtitle(parts: Sequence[str], environment: Environment) -> str:
    """`parts` in a row. Servers without a router are named here too: nobody is to take them for a cluster."""
    server = _mapping(environment, "server")
    routed = server.get("kind") == CLIENT_ROUTED
    return joined(" · ", [*filter(None, parts), *([_topology(server) or CLIENT_ROUTED] if routed else [])])


def _topology(server: Mapping[str, Any]) -> str | None:
    lab = _mapping(server, "lab")
    if not lab:
        return None
    return message("{topology} of a lab, servers: {count}", topology=lab.get("topology"), count=lab.get("servers"))


def _network(server: Mapping[str, Any]) -> str | None:
    document = _mapping(_mapping(server, "lab"), "network")
    if not document:
        return None
    try:
        return message("{network}, by forwarders", network=Network.from_document(document).described)
    except (TypeError, UsageError):
        return None  # of another version


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _fact(label: str, value: Any) -> Fact:
    return Fact(label=label, value="" if value is None or value == UNKNOWN_TEXT else _text(value))


def _cpu_text(host: Mapping[str, Any]) -> str:
    cores, usable = host.get("cpu_cores"), host.get("cpu_cores_usable")
    count = message("{count} cores", count=cores) if cores else ""
    if usable and usable != cores:
        count = message("{count}, {usable} usable", count=count, usable=usable)
    return _joined(host.get("cpu_model"), count, "virtual machine" if host.get("virtualised") else None)


def _joined(*parts: Any) -> str:
    return joined(" · ", (_text(part) for part in parts if part))


def _text(value: Any) -> str:
    """A message stays one."""
    return value if isinstance(value, str) else str(value)


def _bytes(value: Any) -> str | None:
    return format_bytes(value) if isinstance(value, int) else None


def _cores(value: Any) -> str | None:
    return message("{count:g} cores", count=value) if isinstance(value, int | float) else None
