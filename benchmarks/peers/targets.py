"""Owns what the ratios have to be, and whether they are: pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.peers.catalogue import BARE_LOOP, BRIMLINE, peer_in, peer_named
from benchmarks.peers.figures import Measure, Spread, ratios
from benchmarks.peers.results import Results, Run

_CLIENT_CPU_TIMES = (("ycsb", 6.0), ("go-ycsb", 6.0), ("rust-driver", 3.0), ("pymongo", 12.0))
_OPTIONAL = frozenset({"go-ycsb"})
_THROUGHPUT_TIMES = 1.3
_BATCHED_LOAD_TIMES = 8.0

NO_RATIOS = (
    ("user instructions of a find", "≤ 3 000", "make check-instructions"),
    ("user instructions of an update", "≤ 3 150", "make check-instructions"),
    ("user instructions of an insert of 1 KB", "≤ 4 500", "make check-instructions"),
    ("user instructions, beside those of benchmarks/instructions.json", "≤ +10 %", "make check-instructions"),
    (
        "null ceiling: operations/s of one engine thread against the scripted server",
        "≥ 180 000, or ≥ 0.85 of a bare client in the same run",
        "make bench-ceiling",
    ),
    (
        "send lag at 20 000 operations/s on the null target, waiting as for a server elsewhere, p99",
        "≤ 50 µs",
        "make bench-lag",
    ),
    (
        "peak memory of a run until its last reply is in, with 1 000 connections and with 10⁸ operations (the whole "
        "command, with analysis and report, takes more and is not limited)",
        "< 80 MB",
        "make bench-memory",
    ),
    ("memory through 30 minutes at 5 000 operations/s", "level", "make bench-soak"),
    ("size of the record of those 30 minutes", "< 20 MB", "make bench-soak"),
)
"""What must hold besides the ratios: what, how much, and the command that checks it and fails where it doesn't."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One claim: the median of `ratio` is at least `at_least`. `ratio` is None when a side of it wasn't measured.

    `of_bare_loop` is what the bare loop reaches in brimline's place, by the ratio of both beside each other; None where
    it says nothing or wasn't measured.
    """

    text: str
    at_least: float
    ratio: Spread | None
    of_bare_loop: float | None = None

    @property
    def outcome(self) -> str:
        """One of "met", "missed" and "not measured"."""
        if self.ratio is None:
            return "not measured"
        return "met" if self.ratio.median >= self.at_least else "missed"


def targets(results: Results) -> list[Target]:
    """Every target with its outcome; those of a peer that is optional and absent are left out."""
    found = [
        _target(_client_cpu_text(results, peer, cell), times, results, cell, peer)
        for peer, times in _CLIENT_CPU_TIMES
        for cell in ("c", "a")
        if peer not in _OPTIONAL or any((run.client, run.cell) == (peer, cell) for run in results.runs)
    ]
    for cell in ("c", "a"):
        found.append(_throughput(results, f"throughput, {cell.upper()}: brimline ÷ ycsb", _THROUGHPUT_TIMES, cell))
    unbatched = results.of("ycsb", "load")
    batched = ratios(results.of(BRIMLINE, "batch"), unbatched, _ops_per_s, by="round")
    text = f"load, documents/s: brimline in batches of {results.settings['batch']} ÷ ycsb unbatched"
    found.append(Target(text=text, at_least=_BATCHED_LOAD_TIMES, ratio=batched))
    found.append(_throughput(results, "load, documents/s: brimline ÷ ycsb, both unbatched", _THROUGHPUT_TIMES, "load"))
    return found


def _client_cpu_text(results: Results, peer: str, cell: str) -> str:
    text = f"client CPU per operation, {cell.upper()}: {peer} ÷ brimline"
    return f"{text} (other work: see its note)" if peer_in(results, peer).other_work else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """A figure in which a peer's median is better than that of brimline's runs beside it: by how much."""

    client: str
    cell: str
    figure: str
    times: Spread


_LESS_IS_BETTER: Sequence[tuple[str, Measure]] = (
    ("client CPU", lambda run: run.client_us),
    ("server CPU", lambda run: run.server_us),
    ("p50", lambda run: run.p50_ns),
    ("p99", lambda run: run.p99_ns),
    ("peak memory", lambda run: run.peak_memory_bytes),
    ("time to start", lambda run: run.start_ns),
)


def where_peers_are_better(results: Results) -> list[Better]:
    """Every figure of every cell in which a peer is ahead of brimline."""
    found = []
    for client, cell in dict.fromkeys((run.client, run.cell) for run in results.runs):
        if client == BRIMLINE or peer_named(client).reference:
            continue
        theirs, ours = results.of(client, cell), results.of(BRIMLINE, cell)
        candidates = [("throughput", ratios(theirs, ours, _ops_per_s))]
        candidates += [(name, ratios(ours, theirs, measure)) for name, measure in _LESS_IS_BETTER]
        found += [
            Better(client=client, cell=cell, figure=name, times=times)
            for name, times in candidates
            if times is not None and times.median > 1
        ]
    return found


def _target(text: str, at_least: float, results: Results, cell: str, peer: str) -> Target:
    ratio = _client_cpu(results, peer, BRIMLINE, cell)
    beside_bare = _client_cpu(results, BRIMLINE, BARE_LOOP, cell)
    of_bare_loop = None if ratio is None or beside_bare is None else ratio.median * beside_bare.median
    return Target(text=text, at_least=at_least, ratio=ratio, of_bare_loop=of_bare_loop)


def _client_cpu(results: Results, client: str, other: str, cell: str) -> Spread | None:
    return ratios(results.of(client, cell), results.of(other, cell), lambda run: run.client_us)


def _throughput(results: Results, text: str, at_least: float, cell: str) -> Target:
    ratio = ratios(results.of(BRIMLINE, cell), results.of("ycsb", cell), _ops_per_s)
    return Target(text=text, at_least=at_least, ratio=ratio)


def _ops_per_s(run: Run) -> float:
    return run.ops_per_s
