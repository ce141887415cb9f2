"""Owns BENCHMARKS.md: the results in words and tables; pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.peers.catalogue import BRIMLINE, CATALOGUE, peer_in, peer_named
from benchmarks.peers.commands import differences
from benchmarks.peers.figures import Measure, Spread, over, ratios
from benchmarks.peers.results import COUNT_TOLERANCE, OTHERS_SHARE_MAX, Absence, Results, Run
from benchmarks.peers.settings import CELLS, Cell, Settings
from benchmarks.peers.targets import NO_RATIOS, targets, where_peers_are_better

Row = Sequence[str]
_UNKNOWN = "–"
NOT_IN_THE_TABLES = "Not in the tables"
FAILED_ONCE = "Failed once, and made again"
_BARE_LOOP = (
    "A bare loop is no load generator: it sends messages made before, times nothing, and rests as brimline may at "
    "most. Its column says what it reaches in brimline's place: where that is less than the target, hardly any client "
    "could meet it on this machine."
)


def page(results: Results, *, home: str | None = "") -> str:
    """The whole page. `home` leads from its directory to the project's, "" or ending in a slash.

    None for a page outside the project: it links nothing there.
    """
    blocks = [_head(results, home), _targets(results), _other_targets(home)]
    blocks += [_cell(results, cell) for cell in CELLS if any(run.cell == cell.name for run in results.runs)]
    blocks += [_better(results), _absent(results), _failed_once(results), _same_work(results), _circumstances(results)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def figure(value: float | None) -> str:
    """Three significant digits, thousands apart."""
    if value is None:
        return _UNKNOWN
    if abs(value) >= 999.5:  # which has three digits no more
        digits = max(len(str(round(abs(value)))) - 3, 0)
        return f"{round(value, -digits):,.0f}".replace(",", " ")
    return f"{value:.3g}" if abs(value) >= 1e-4 or value == 0 else "0"


def with_range(values: Spread | None) -> str:
    """The median, and from where to where the values were."""
    if values is None:
        return _UNKNOWN
    if values.count == 1:
        return figure(values.median)
    return f"{figure(values.median)} ({figure(values.low)}–{figure(values.high)})"


def table(head: Row, rows: Iterable[Row], *, figures: bool = True) -> str:
    """A Markdown table: columns after the first to the right if they hold `figures`."""
    lines = [head, ["---", *("--:" if figures else "---" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _head(results: Results, home: str | None) -> str:
    settings = results.settings
    guide = _guide(home)
    paragraphs = [
        "# brimline beside its peers",
        "Written by `make peers`; how it is done, and how to add a peer, is in "
        f"{guide}. Every run is in [results.json](benchmarks/results.json).",
        f"Every client is asked for {settings['threads']} connections in a closed loop. "
        f"{figure(settings['records'])} records of 10 × 100 B, zipfian 0.99, mongod {results.server_version}. "
        f"{_cores(settings, home)} Every peer runs right beside a run of brimline, in {settings['rounds']} rounds "
        f"whose order alternates. {_lengths(settings)} Figures are medians with (smallest–largest) over the rounds. "
        "Absolute ones drift with the machine; ratios within pairs, and client ÷ server CPU, drift much less.",
        "In flight is how many commands were on the way at once, about: throughput in commands × p50 (Little's law). "
        "Latencies compare only where it is alike: the more commands wait for the server, the longer each waits. Why a "
        "client has fewer than connections, and when its latencies end, is in the notes under Circumstances.",
        "Peak MB (VmHWM, 10⁶ bytes) is of the whole process until its result is out: brimline's holds its analysis and "
        "its report. Of programs from outside it is read at the end of the window.",
    ]
    others = over(results.runs, lambda run: run.others_share)
    if others is not None and others.median > OTHERS_SHARE_MAX:
        paragraphs.append(
            f"**The machine was not quiet: other processes took {others.median:.0%} "
            f"({others.low:.0%}–{others.high:.0%}) of its cores during the windows. "
            "Throughput and latencies mean little then.**"
        )
    if not results.complete:
        paragraphs.append("**This run was cut short; what it had measured by then is here.**")
    return "\n\n".join(paragraphs)


def _lengths(settings: Mapping[str, Any]) -> str:
    """What is recorded of them: results from before the last two settings were say nothing of batched loads."""
    made = Settings(**settings)
    unbatched, batched = (
        [
            figure(made.measured_of(cell)),
            *(figure(made.warmup_of(cell, compiles=compiles)) for compiles in (False, True)),
        ]
        for cell in (CELLS[0], CELLS[-1])
    )
    lengths = "last {} s, after a warm-up of {} s, on a JVM and Node.js {} s".format(*unbatched)
    if "batched_part" in settings:
        said = f"Windows {lengths}; in batched loads {{}} s, {{}} s and {{}} s.".format(*batched)
    else:
        said = f"Without batches, windows {lengths}."
    if "documents_per_s_ycsb" in settings:
        said += (
            f" A client that loads by count, as brimline does, loads {figure(made.documents)} documents, batched or "
            "not, and its window is the whole load: its collection is on average as large as YCSB's in the window of "
            f"its unbatched load, at {figure(made.documents_per_s_ycsb)} documents/s."
        )
    return said


def _guide(home: str | None) -> str:
    return _link("benchmarks", "benchmarks/README.md", home)


def _link(text: str, path: str, home: str | None) -> str:
    return path if home is None else f"[{text}]({home}{path})"


def _cores(settings: Mapping[str, Any], home: str | None) -> str:
    shared = sorted(set(settings["client_cores"]) & set(settings["server_cores"]))
    if not shared:
        return (
            "Client and server each have cores of their own; on shared cores, measured apart from this and "
            "with its own machine and commit named, they are in "
            f"{_link('shared cores', 'benchmarks/shared-cores/BENCHMARKS.md', home)}."
        )
    return (
        f"**Client and server share cores ({', '.join(map(str, shared))}): each takes time from the other, and "
        "throughput and latencies are of both together.**"
    )


def _targets(results: Results) -> str:
    found = targets(results)
    has_bare = any(target.of_bare_loop is not None for target in found)
    head = ("ratio", "target", "measured", "outcome", *(["a bare loop"] if has_bare else []))
    rows = [
        (
            *(target.text, f"≥ {figure(target.at_least)}", with_range(target.ratio), target.outcome),
            *([figure(target.of_bare_loop)] if has_bare else []),
        )
        for target in found
    ]
    return "\n\n".join(["## What it must show", table(head, rows), *([_BARE_LOOP] if has_bare else [])])


def _other_targets(home: str | None) -> str:
    rows = [(what, target, f"`{command}`") for what, target, command in NO_RATIOS]
    return (
        "What is no ratio has a command of its own, which fails where it doesn't hold; what each showed last is in "
        f"{_guide(home)}.\n\n" + table(("besides", "target", "checked by"), rows, figures=False)
    )


def _cell(results: Results, cell: Cell) -> str:
    clients = [peer.name for peer in CATALOGUE if results.of(peer.name, cell.name)]
    batch = results.settings["batch"] if cell.batched else 1
    rows = [_figures(results.of(name, cell.name), name, batch) for name in clients]
    title = cell.title + (f" of {results.settings['batch']}" if cell.batched else "")
    unit = f"per {cell.unit}"
    head = (
        *("client", f"{cell.unit}s/s", f"client µs {unit}", f"server µs {unit}", "client ÷ server"),
        *("p50 ms", "p99 ms", "in flight", "peak MB", "start s", "CPU s before the window"),
    )
    blocks = [f"## {title}", table(head, rows)]
    beside = [_ratios(results, cell, name) for name in clients if name != BRIMLINE]
    if beside:
        ratio_head = ("against brimline in the same pair", "client CPU: peer ÷ brimline", "throughput: brimline ÷ peer")
        blocks.append(table(ratio_head, beside))
    if cell.loads:
        blocks.append("Latencies and what is in flight are of commands, all else is per document.")
    return "\n\n".join(blocks)


def _figures(runs: Sequence[Run], name: str, batch: int) -> Row:
    def measured(measure: Measure) -> str:
        return with_range(over(runs, measure))

    engine = over(runs, lambda run: run.engine_cpu_ns and run.engine_cpu_ns / 1e3 / max(run.operations, 1))
    client = measured(lambda run: run.client_us)
    return (
        peer_named(name).title,
        measured(lambda run: run.ops_per_s),
        client if engine is None else f"{client}, engine alone {with_range(engine)}",
        measured(lambda run: run.server_us),
        measured(lambda run: run.quotient),
        measured(lambda run: run.p50_ns and run.p50_ns / 1e6),
        measured(lambda run: run.p99_ns and run.p99_ns / 1e6),
        measured(lambda run: run.in_flight(batch)),
        measured(lambda run: run.peak_memory_bytes / 1e6),
        measured(lambda run: run.start_ns / 1e9),
        measured(lambda run: run.cpu_before_window_ns / 1e9),
    )


def _ratios(results: Results, cell: Cell, name: str) -> Row:
    theirs, ours = results.of(name, cell.name), results.of(BRIMLINE, cell.name)
    return (
        peer_named(name).title,
        with_range(ratios(theirs, ours, lambda run: run.client_us)),
        with_range(ratios(ours, theirs, lambda run: run.ops_per_s)),
    )


def _better(results: Results) -> str:
    found = where_peers_are_better(results)
    head = "## Where a peer is better"
    if not found:
        return f"{head}\n\nIn no figure of this run."
    rows = [(peer_named(each.client).title, _title(each.cell), each.figure, with_range(each.times)) for each in found]
    return f"{head}\n\n" + table(("peer", "work", "figure", "times better than brimline"), rows)


def _absent(results: Results) -> str:
    rows = _absences(each for each in results.absent if not each.made_again)
    rows += [
        (
            peer_named(run.client).title,
            _title(run.cell),
            f"its run of round {run.round}: {counts_differ(run)}",
            "measure again",
        )
        for run in results.doubtful
    ]
    return _told(NOT_IN_THE_TABLES, ("peer", "work", "why", "how to get it"), rows)


def _failed_once(results: Results) -> str:
    rows = _absences(each for each in results.absent if each.made_again)
    return _told(FAILED_ONCE, ("peer", "work", "what failed", "how to try it"), rows)


def _absences(absences: Iterable[Absence]) -> list[Row]:
    return [
        (peer_named(each.client).title, _title(each.cell) if each.cell else "all", each.reason, each.hint)
        for each in absences
    ]


def _told(heading: str, head: Row, rows: Sequence[Row]) -> str:
    return f"## {heading}\n\n{table(head, rows, figures=False)}" if rows else ""


def _same_work(results: Results) -> str:
    kinds = sorted({kind for seen in results.commands.values() for kind in seen})
    if not kinds:
        return ""
    rows = [
        (peer_named(name).title, *(seen.get(kind, _UNKNOWN) for kind in kinds))
        for name, seen in results.commands.items()
    ]
    differing = [
        f"- {peer_named(name).title} differs from brimline in: {', '.join(kinds_of)}."
        for name, kinds_of in differences(results.commands, reference=BRIMLINE).items()
        if kinds_of
    ]
    failing = [f"{run.client} ({run.cell}, round {run.round}): {run.failed}" for run in results.runs if run.failed]
    failures = (
        f"**Operations failed, or found nothing, in: {', '.join(failing)}.**" if failing else "No operation failed."
    )
    words = [
        "## The same work",
        "What the server's profiler saw of a short run of each. A read or write concern that a client asks for is "
        "named; those of updates the profiler doesn't show. One document is inserted the same, ordered or not.",
        table(("client", *kinds), rows, figures=False),
    ]
    words += ["\n".join(differing) or "All send the same commands.", _counted(results), failures]
    return "\n\n".join(words)


def _counted(results: Results) -> str:
    """Whether server and clients counted the same, and whose operations only the server counted."""
    by_server = [
        peer.title for peer in CATALOGUE if any(run.client == peer.name and _by_server(run) for run in results.runs)
    ]
    compared = (
        f"**The server counted more than {COUNT_TOLERANCE:.0%} other than the client in: {_named(results.doubtful)}. "
        "They are left out of all medians and ratios.**"
        if results.doubtful
        else f"In every run of a client that counts, the server's own counters are within {COUNT_TOLERANCE:.0%} of it."
    )
    if not by_server:
        return compared
    return f"{compared} The operations of {', '.join(by_server)} only the server counted: there is nothing to compare."


def _by_server(run: Run) -> bool:
    """Whether only the server counted its operations; of older results: no program from outside has ever told them."""
    if run.operations_by is None:
        return peer_named(run.client).outside
    return run.operations_by == "server"


def _circumstances(results: Results) -> str:
    clients = list(dict.fromkeys(run.client for run in results.runs))
    versions = {name: dict(next(run.versions for run in results.runs if run.client == name)) for name in clients}
    others = over(results.runs, lambda run: 100 * run.others_share)
    machine = {**results.machine, "other processes during the windows": f"{with_range(others)} % of all cores"}
    if busy := [run for run in results.runs if run.others_share > OTHERS_SHARE_MAX]:
        machine[f"other processes took more than {OTHERS_SHARE_MAX:.0%} in"] = _named(busy)
    if unrested := [run for run in results.runs if not run.rested]:
        machine["the server had not come to rest before"] = _named(unrested)
    blocks = ["## Circumstances", "\n".join(f"- {name}: {value}" for name, value in machine.items())]
    peers = [peer_in(results, name) for name in clients]
    notes = [f"- {peer.title}: {peer.note}" for peer in peers if peer.note]
    blocks.append("\n".join(notes))
    rows = [
        (peer_named(name).title, ", ".join(f"{part} {version}" for part, version in versions[name].items()))
        for name in clients
    ]
    blocks.append(table(("client", "versions"), rows, figures=False))
    lines = [f"# {_client_and_work(key)}\n{line}" for key, line in results.command_lines.items()]
    blocks.append("Commands, of each client and each kind of work:\n\n```\n" + "\n".join(lines) + "\n```")
    return "\n\n".join(block for block in blocks if block)


def _client_and_work(key: str) -> str:
    name, _, cell = key.partition(", ")
    return ": ".join([peer_named(name).title, *([_title(cell)] if cell else [])])


def _named(runs: Iterable[Run]) -> str:
    return ", ".join(f"{run.client} ({run.cell}, round {run.round})" for run in runs)


def counts_differ(run: Run) -> str:
    """Why a run with which the server doesn't agree is in no table."""
    counted = sum(run.counted.values())
    return f"the server counted {figure(counted)}, the client {figure(run.operations)}; in no median, no ratio"


def _title(cell: str) -> str:
    return next(each.title.split(":")[0] for each in CELLS if each.name == cell)
