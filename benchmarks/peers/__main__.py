"""Measures brimline beside its peers; writes BENCHMARKS.md and benchmarks/results.json.

    make peers                                    # all of it, about 45 minutes
    make peers ARGUMENTS='--quick --peers ycsb'   # a look

Exit codes are brimline's: 0 measured, whatever came out; 1 a client that is here failed, or one of the project's own
sends other commands than brimline; 2 usage; 5 the server went away; 130 interrupted; 143 terminated.
"""

import shlex
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pymongo.errors import PyMongoError

from benchmarks.peers.builds import ROOT, Missing
from benchmarks.peers.catalogue import BRIMLINE, CATALOGUE, Peer, peer_named
from benchmarks.peers.commands import commands_seen, differences
from benchmarks.peers.machine import machine
from benchmarks.peers.measuring import command_line, measure
from benchmarks.peers.options import read_arguments, settings_of, short_windows
from benchmarks.peers.page import FAILED_ONCE, NOT_IN_THE_TABLES, counts_differ, figure, page
from benchmarks.peers.processes import ClientFailed
from benchmarks.peers.results import Absence, Results, Run
from benchmarks.peers.rounds import Turn, turns
from benchmarks.peers.server import Server, server
from benchmarks.peers.settings import CELLS, Cell, Settings
from benchmarks.peers.targets import targets
from brimline.errors import BrimlineError, TargetError, UsageError

RESULTS_FILE = Path("benchmarks/results.json")
PAGE_FILE = Path("BENCHMARKS.md")
_PAUSES_S = 4.0
"""What a run takes besides warm-up and window: start, end, the server's rest."""
_TRIES = 2
_CHECKED_BY = {"c": "a", "a": "a", "load": "load", "batch": "batch"}
"""In which cell the commands of a cell are looked at: workload A has those of C as well."""


def main(words: Sequence[str]) -> int:
    """Measures, writes, prints."""
    given = read_arguments(words)
    if given.page:
        _write_page(_read(given.output), given.output)
        return 0
    settings = settings_of(given)
    programs, absent = _programs(given.peers)
    cells = [cell for cell in CELLS if cell.name in given.cells]
    work = [(cell.name, [name for name in programs if name != BRIMLINE and _takes_part(name, cell)]) for cell in cells]
    all_turns = list(turns(work, rounds=settings.rounds, reference=BRIMLINE))
    _say(f"{len(all_turns)} runs, about {_estimate_s(all_turns, settings) / 60:.0f} min")
    results = Results(machine=machine(settings), settings=asdict(settings), server_version="unknown", absent=absent)
    failures = 0
    _make_room(given.output)
    try:
        with server(settings, given.mongod) as running, tempfile.TemporaryDirectory(prefix="peers-log-") as logs:
            results.server_version = running.version
            comparison = Comparison(running, settings, programs, Path(logs), results)
            failures += comparison.check_commands(set(given.cells))
            failures += comparison.make(all_turns)
        results.complete = True
    except KeyboardInterrupt as interruption:
        written = "what was measured is written" if results.runs else "nothing was measured yet"
        _say(f"error: interrupted; {written}")
        return _exit_code(interruption)
    finally:
        if results.runs:  # else an earlier page is worth more
            _write(results, given.output)
    _print(results)
    return 1 if failures or other_commands(results) else 0


class Comparison:
    """All runs on one server; what they gave ends up in `results`, what failed in `results.absent`."""

    def __init__(
        self, running: Server, settings: Settings, programs: dict[str, list[str]], logs: Path, results: Results
    ) -> None:
        self._server = running
        self._settings = settings
        self._programs = programs
        self._logs = logs
        self._results = results

    def check_commands(self, cells: set[str]) -> int:
        """A short run of each client with the profiler on. Returns the number of failures."""
        short = short_windows(self._settings)
        wanted = [cell for cell in CELLS if cell.name in {_CHECKED_BY[name] for name in cells}]
        failures = 0
        for name in self._programs:
            for cell in (cell for cell in wanted if _takes_part(name, cell)):
                peer = peer_named(name)
                with self._server.profiled(peer.namespace(loads=cell.loads)) as noted:
                    turn = Turn(client=name, cell=cell.name, round=0, number=0)
                    failures += self._run(turn, short) is None
                seen = commands_seen(noted, batched=cell.batched)
                if peer.own_records is not None and not cell.loads:
                    seen.pop("insert", None)  # it has loaded its records first
                self._results.commands.setdefault(name, {}).update(seen)
        return failures

    def make(self, all_turns: Sequence[Turn]) -> int:
        """Every run, one after the other. Returns the number of failures."""
        failures = 0
        for position, turn in enumerate(all_turns, 1):
            run = self._run(turn, self._settings)
            if run is None:
                failures += 1
                continue
            self._results.runs.append(run)
            self._results.command_lines.setdefault(f"{turn.client}, {turn.cell}", self._command_line(turn))
            _say(f"{position}/{len(all_turns)}  {_line(run)}")
        return failures

    def _run(self, turn: Turn, settings: Settings) -> Run | None:
        """One run, made once more where it fails: a median of fewer rounds is worth less. Every failure is told."""
        failed: list[Absence] = []
        while len(failed) < _TRIES:
            outcome = self._try(turn, settings)
            if isinstance(outcome, Run):
                self._results.note_made_again(failed)
                return outcome
            failed.append(outcome)
            self._results.note_absent(outcome)
        return None

    def _try(self, turn: Turn, settings: Settings) -> Run | Absence:
        peer, cell, program = peer_named(turn.client), _cell_named(turn.cell), self._programs[turn.client]
        log = self._logs / f"{turn.client}.log"
        try:
            return measure(peer, program, self._server, cell, settings, turn=turn, log=log)
        except (ClientFailed, ProcessLookupError) as error:
            _say(f"{turn.client}, {turn.cell}: {error}")
            _say("".join(log.read_text(errors="replace").splitlines(keepends=True)[-10:]))
            return failed_run(turn, error)

    def _command_line(self, turn: Turn) -> str:
        peer, cell, program = peer_named(turn.client), _cell_named(turn.cell), self._programs[turn.client]
        return _portable(command_line(peer, program, "mongodb://HOST:PORT", cell, self._settings))


def failed_run(turn: Turn, error: Exception) -> Absence:
    """Why a run failed, and how to see it again. Of a peer without any run in a cell it is why it has no row.

    Elsewhere than in the page of this comparison, which a single run would replace.
    """
    which = f"its run of round {turn.round}" if turn.round else "the look at its commands"
    peers = [] if turn.client == BRIMLINE else ["--peers", turn.client]
    again = shlex.join([*peers, "--cells", turn.cell, "--rounds", "1", "--output", "target/peers/again"])
    return Absence(
        client=turn.client, cell=turn.cell, reason=f"{which} failed: {error}", hint=f"make peers ARGUMENTS='{again}'"
    )


def other_commands(results: Results) -> dict[str, list[str]]:
    """In which kinds of command a client differs from brimline that could send the same: the project's own can."""
    return {
        name: kinds
        for name, kinds in differences(results.commands, reference=BRIMLINE).items()
        if kinds and not peer_named(name).outside
    }


def _programs(wanted: Sequence[str]) -> tuple[dict[str, list[str]], list[Absence]]:
    """How each client is started, and which can't be. Builds what has to be built."""
    programs: dict[str, list[str]] = {}
    absent = []
    for peer in CATALOGUE:
        if peer.name == BRIMLINE or peer.name in wanted:
            try:
                programs[peer.name] = peer.command()
            except Missing as missing:
                _say(f"{peer.title}: {missing.reason} ({missing.hint})")
                absent.append(Absence(client=peer.name, reason=missing.reason, hint=missing.hint))
    return programs, absent


def _takes_part(name: str, cell: Cell) -> bool:
    return cell.name in peer_named(name).cells


def _estimate_s(all_turns: Sequence[Turn], settings: Settings) -> float:
    return sum(_PAUSES_S + _length_s(_cell_named(turn.cell), peer_named(turn.client), settings) for turn in all_turns)


def _length_s(cell: Cell, peer: Peer, settings: Settings) -> float:
    return settings.length_of(cell, compiles=peer.compiles, by_count=peer.by_count)


def _cell_named(name: str) -> Cell:
    return next(cell for cell in CELLS if cell.name == name)


def _portable(command: Sequence[str]) -> str:
    """The command line without this machine's directories; a program outside the project is left its name."""
    words = [word.replace(sys.executable, "python").replace(f"{ROOT}/", "") for word in command]
    return shlex.join(Path(word).name if Path(word).is_absolute() else word for word in words)


def _read(directory: Path) -> Results:
    """The results of an earlier comparison. Raises UsageError."""
    hint = "measure first: make peers; or name their directory with --output"
    try:
        return Results.read(directory / RESULTS_FILE)
    except OSError as error:
        raise UsageError(f"no {RESULTS_FILE} to read in {directory}: {error.strerror}", hint=hint) from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError(f"{RESULTS_FILE} in {directory} is not one that can be read here", hint=hint) from None


def _make_room(directory: Path) -> None:
    """The place of the results, before anything is measured for it. Raises UsageError."""
    try:
        (directory / RESULTS_FILE).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "name another one with --output"
        raise UsageError(f"{directory} can't be made a directory: {error.strerror}", hint=hint) from None


def _write(results: Results, directory: Path) -> None:
    results.write(directory / RESULTS_FILE)
    _write_page(results, directory)


def _write_page(results: Results, directory: Path) -> None:
    directory = directory.resolve()
    home = "../" * len(directory.relative_to(ROOT).parts) if directory.is_relative_to(ROOT) else None
    (directory / PAGE_FILE).write_text(page(results, home=home), encoding="utf-8")


def _print(results: Results) -> None:
    for target in targets(results):
        measured = "not measured" if target.ratio is None else f"{figure(target.ratio.median)}: {target.outcome}"
        print(f"{target.text}: at least {figure(target.at_least)}; {measured}")
    for absence in results.absent:
        where = FAILED_ONCE if absence.made_again else NOT_IN_THE_TABLES
        print(f"{where.lower()}: {', '.join(filter(None, (absence.client, absence.cell)))}: {absence.reason}")
    for name, kinds in other_commands(results).items():
        print(f"not the same work: {name} sends other commands than brimline: {', '.join(kinds)}")
    for run in results.doubtful:
        print(f"{NOT_IN_THE_TABLES.lower()}: {run.client}, {run.cell}, round {run.round}: {counts_differ(run)}")


def _line(run: Run) -> str:
    return (
        f"{run.cell:6}{run.client:15}{run.ops_per_s:>9,.0f}/s  client {run.client_us:>6.2f} µs  "
        f"server {run.server_us:>6.2f} µs"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _terminate(number: int, _: object) -> None:
    raise KeyboardInterrupt(number)


def _exit_code(interruption: KeyboardInterrupt) -> int:
    """That of a shell: 128 and the signal, which `_terminate` names and Python's own handler doesn't."""
    return 128 + (interruption.args[0] if interruption.args else signal.SIGINT)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminate)
    try:
        sys.exit(main(sys.argv[1:]))
    except BrimlineError as error:
        _say(f"error: {error.message}" + (f"\nhint: {error.hint}" if error.hint else ""))
        sys.exit(error.exit_code)
    except PyMongoError as error:
        _say(f"error: the server went away: {type(error).__name__}\nhint: what was measured is written; try again")
        sys.exit(TargetError.exit_code)
    except KeyboardInterrupt as interruption:
        _say("error: interrupted; nothing was measured yet")
        sys.exit(_exit_code(interruption))
