"""Owns the peers: what each is, how it is started, and what to know about its figures."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from benchmarks.peers.builds import GO_YCSB_VERSION, Missing, bare_loop_command, build_go_ycsb, java_command
from benchmarks.peers.results import Results
from brimline.runners import CATALOGUE as RUNNERS

BRIMLINE = "brimline"
BARE_LOOP = "bare-loop"
ALL_CELLS = ("c", "a", "load", "batch")
DATABASE = "peers"
COLLECTION = "usertable"
LOAD_DATABASE = "peers_load"
_OWN_LOOP = (
    "All figures are of a loop of its own, in its own process and without brimline's engine: these results are from "
    "before drivers were measured as brimline's clients, and can't be set beside those from after."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A client. `command` is how it is started without its arguments; it raises Missing where it can't be.

    `cells`: what it can do. `compiles`: while it runs, as on a JVM and Node.js, so that its warm-up is longer.
    `by_count`: its loads end when their documents are in. `outside`: a program that knows nothing of this comparison; a
    small program of ours stands before it, whose own CPU and memory are left out. `driver`: a driver's process, which
    has its operations from brimline's engine; the engine's CPU and memory are left out likewise. `own_records`: the
    namespaces of its records and of its loads where they are its own; it loads its records itself, before it works on
    them.
    `reference`: no load generator, but what one is measured against. `other_work`: it can't be made to do quite the
    same; its note says what differs.
    """

    name: str
    title: str
    command: Callable[[], list[str]]
    cells: tuple[str, ...] = ALL_CELLS
    compiles: bool = False
    by_count: bool = False
    outside: bool = False
    driver: bool = False
    own_records: tuple[str, str] | None = None
    other_work: bool = False
    reference: bool = False
    note: str = ""

    @property
    def is_behind(self) -> bool:
        """Whether a program of ours stands before it, whose CPU and memory are none of its own."""
        return self.outside or self.driver

    def namespace(self, *, loads: bool) -> str:
        """Database and collection of its work."""
        if self.own_records is not None:
            return self.own_records[loads]
        return f"{LOAD_DATABASE if loads else DATABASE}.{COLLECTION}"


def python_program(module: str, *words: str) -> Callable[[], list[str]]:
    """A Python program of ours, with the interpreter that runs this."""
    return lambda: [sys.executable, "-m", f"benchmarks.peers.{module}", *words]


def driver(name: str, title: str, *, client: str, compiles: bool = False) -> Peer:
    """A driver of MongoDB: brimline's `--client`, whose operations go through it in a process of its own."""

    def command() -> list[str]:
        runner = RUNNERS[client]
        if (missing := runner.missing()) is not None:
            raise Missing(missing, hint=runner.how)
        return python_program("brimline.peer", "--client", client)()

    note = (
        "CPU time, memory and latencies are of the driver's process. It reads each command from brimline's engine, "
        "which runs on the same cores and is left out: its throughput is lower by that, and reading commands is part "
        "of its CPU time, so that an application needs less. Operations are the server's count, memory is read at the "
        "end of the window. Latencies and failures are over the window and two seconds after it."
    )
    return Peer(name=name, title=title, command=command, compiles=compiles, driver=True, other_work=True, note=note)


def outside_program(tool: str, names: tuple[str, ...], variable: str) -> Callable[[], list[str]]:
    """A program that is taken where it is: `variable` of the environment names it, or PATH has it."""

    def command() -> list[str]:
        program = find_program(names, variable, os.environ)
        return python_program("outside.peer", "--tool", tool, "--program", program)()

    return command


def go_ycsb_command() -> list[str]:
    """go-ycsb where it is named or on PATH, else built here."""
    names, variable = ("go-ycsb",), "PEERS_GO_YCSB"
    if os.environ.get(variable) or shutil.which(names[0]):
        return outside_program("go-ycsb", names, variable)()
    words = ("--tool", "go-ycsb", "--program", str(build_go_ycsb()), "--tool-version", GO_YCSB_VERSION)
    return python_program("outside.peer", *words)()


def find_program(names: tuple[str, ...], variable: str, environ: Mapping[str, str]) -> str:
    """The program that `variable` names, else the first of `names` on PATH. Raises Missing."""
    if wanted := environ.get(variable):
        if found := shutil.which(wanted, path=environ.get("PATH")):
            return found
        raise Missing(f"{variable} names no program", hint=f"set {variable} to an executable file")
    for name in names:
        if found := shutil.which(name, path=environ.get("PATH")):
            return found
    raise Missing("not here", hint=f"put {names[0]} on PATH, or set {variable} to it")


CATALOGUE = (
    Peer(
        name=BRIMLINE,
        title="brimline",
        command=python_program("brimline.peer"),
        by_count=True,
        note="In batched loads only a command for each of the server's processors and one more are on the way, not one "
        "on each connection: its latencies there are shorter above all because fewer commands wait. In C, A and "
        "unbatched loads it looks for replies now and then, where that gains throughput, and a connection is idle "
        "between its reply and the next look; only beside a server on the same machine, so that none of this shows "
        "what it costs over a line. Its latencies end when the reply arrives at the host, by the kernel's "
        "stamp; those of the peers when the client has it.",
    ),
    Peer(
        name=BARE_LOOP,
        title="bare loop",
        command=bare_loop_command,
        cells=("c", "a"),
        reference=True,
        note="No load generator, but about the least that one could cost here: an epoll loop over as many sockets that "
        "sends messages made before, looks at a reply's length and at whether a record was found, times nothing, and "
        "rests as long as brimline may at most. Nearly all of it is the kernel's.",
    ),
    Peer(
        name="ycsb",
        title="YCSB",
        command=java_command("peers.YcsbPeer"),
        compiles=True,
        note="YCSB's core from Maven Central on a thin binding of ours. It takes its keys by the exact zipfian law as "
        "the others do; its own draws ranks for 10¹⁰ items and hashes them onto the records, which is other work for "
        "the server. With batches it has no latency per command.",
    ),
    driver("java-blocking", "Java driver, blocking", client="java-sync", compiles=True),
    driver("java-reactive", "Java driver, reactive", client="java-reactive", compiles=True),
    driver("rust-driver", "Rust driver", client="rust"),
    driver("pymongo", "PyMongo, blocking", client="pymongo"),
    driver("pymongo-async", "PyMongo, async", client="pymongo-async"),
    driver("node", "Node.js driver", client="node", compiles=True),
    driver("go", "Go driver", client="go"),
    Peer(
        name="go-ycsb",
        title="go-ycsb",
        command=go_ycsb_command,
        cells=("c", "a", "load"),
        outside=True,
        own_records=("ycsb.go_ycsb", "ycsb.go_ycsb_load"),
        other_work=True,
        note="Operations are the server's count. Latencies are its own, over the window and two seconds after it, of a "
        "load over the warm-up as well. Its reads name all ten fields in a projection, and leave `_id` out. Its "
        "database and its records are its own; its keys are numbers by its own hash. Its zipfian is an approximation: "
        "ranks are drawn for 10¹⁰ items and hashed onto the records.",
    ),
    Peer(
        name="ycsb-release",
        title="YCSB, release",
        command=outside_program("ycsb", ("ycsb.sh", "ycsb"), "PEERS_YCSB"),
        cells=("c", "a", "load"),
        compiles=True,
        outside=True,
        other_work=True,
        note="Operations are the server's count, latencies and failures span its warm-up. Its zipfian is YCSB's own.",
    ),
    Peer(
        name="mongoimport",
        title="mongoimport",
        command=outside_program("mongoimport", ("mongoimport",), "PEERS_MONGOIMPORT"),
        cells=("batch",),
        by_count=True,
        outside=True,
        note="Operations are the server's count. Reads its documents from a file of extended JSON, four workers, "
        "batches of its own. All ten fields of a document have one text, and keys ascend: it compresses better and is "
        "sorted. Window, CPU and memory are of the whole import; the time to start holds the writing of "
        "the file.",
    ),
)


def peer_named(name: str) -> Peer:
    """The peer of that name. Raises KeyError."""
    return {peer.name: peer for peer in CATALOGUE}[name]


def peer_in(results: Results, name: str) -> Peer:
    """The peer as it was for these results: a driver had a loop of its own once, which counted. Raises KeyError."""
    peer, runs = peer_named(name), [run for run in results.runs if run.client == name]
    if peer.driver and runs and all(run.operations_by != "server" for run in runs):
        return replace(peer, driver=False, other_work=False, note=_OWN_LOOP)
    return peer
