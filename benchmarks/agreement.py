"""Owns the agreement of two capacity searches: the same server, two searches that know nothing of each other.

    python -m benchmarks.agreement [ycsb-b] [--network 50mbit|local] [--on rate|connections] [--quick]

Their probes alternate, so that a machine whose speed drifts drifts for both. Exits with 3 unless the searches agree:
both have a number, and the two intervals share a load.

The server is behind a line of 50 Mbit/s unless told otherwise: what a line carries doesn't change with the speed of
processors, which on a shared machine wanders by half within an hour, so that searches without one end, rightly, without
a number. Connections of a search on a rate are said, because each search would find its own in a sweep of its own, and
the rate that a server sustains depends on them. On connections, response time follows the load by Little's law.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from brimline.api.conducting import Search, conduct
from brimline.api.options import Options
from brimline.api.search_settings import SearchWords, settings_for
from brimline.api.workload import load_workload
from brimline.cli.progress import TerminalProgress
from brimline.experiments.axis import On
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.cost import TimeEstimate, capacity_time
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.trial import Probe, Trial

NAMES = ("first", "second")
DISAGREED = 3


class Alternating:
    """Two searches that take turns. A probe's `goal` tells which one asked; neither sees the other's trials."""

    def __init__(self, settings: CapacitySettings, seed: int) -> None:
        self._searches = {name: Capacity(settings, seed + number) for number, name in enumerate(NAMES)}

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        """What the search with fewer trials asks for, or the other one where that has ended."""
        for name in sorted(NAMES, key=lambda each: len(_own(each, trials))):
            probe = self._searches[name].next_probe(_own(name, trials))
            if probe is not None:
                return replace(probe, goal=name, label=f"{name}-{probe.label}")
        return None

    def conclude(self, trials: Sequence[Trial]) -> dict[str, CapacityConclusion]:
        """What each of them found, by name."""
        return {name: search.conclude(_own(name, trials)) for name, search in self._searches.items()}


def _own(name: str, trials: Sequence[Trial]) -> list[Trial]:
    return [replace(each, probe=replace(each.probe, goal="")) for each in trials if each.probe.goal == name]


def agree(found: Sequence[CapacityConclusion]) -> bool:
    """Whether all have a number and there is a load that lies in every interval."""
    known = [each.sustained for each in found if each.sustained is not None]
    return len(known) == len(found) and max(each.low for each in known) <= min(each.high for each in known)


def _figures(found: CapacityConclusion) -> dict[str, object]:
    return {
        "headline": found.headline,
        "sustained": None if found.sustained is None else found.sustained.value,
        "interval": None if found.sustained is None else [found.sustained.low, found.sustained.high],
        "passed": found.tried.held,
        "windows": found.tried.windows,
        "spent_s": round(found.state.spent_s),
    }


def _both(one: TimeEstimate) -> TimeEstimate:
    stages = tuple(replace(each, probe_count=len(NAMES) * each.probe_count) for each in one.stages)
    return TimeEstimate(typical_s=len(NAMES) * one.typical_s, max_s=len(NAMES) * one.max_s, stages=stages)


def main() -> int:
    """Runs both searches on a server of their own and prints what they found."""
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("workload", nargs="?", default="ycsb-b")
    words.add_argument("--records", default="100k")
    words.add_argument("--network", default="50mbit", help="how far away the server is; local: not at all")
    words.add_argument("--on", choices=(On.CONNECTIONS, On.RATE), default=On.RATE, type=On)
    words.add_argument("--objective", default="response_p95=20ms", metavar="LIMIT=VALUE")
    words.add_argument("--connections", type=int, default=128, help="of the probes at a rate")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--runs-dir", type=Path, default=Path("runs"))
    words.add_argument("--json", type=Path)
    said = words.parse_args()
    limit, _, value = said.objective.partition("=")
    objective = {limit: value, "error_rate": "0.1%"}
    loaded = load_workload(said.workload, overrides={"data.records": said.records, "slo": objective})
    searched = SearchWords(on=said.on, connections=said.connections if said.on is On.RATE else None)
    settings = settings_for(loaded.spec, "quick" if said.quick else "standard", searched)
    conducted = conduct(
        loaded,
        Options(runs_dir=said.runs_dir, progress=TerminalProgress(), network=said.network),
        Search(kind="capacity", settings=settings, make=Alternating, slo=settings.slo),
        estimate=_both(capacity_time(settings)),
    )
    found = Alternating(settings, conducted.seed).conclude(conducted.trials)
    agreed = agree(list(found.values()))
    figures = {name: _figures(each) for name, each in found.items()} | {"agree": agreed}
    text = json.dumps(figures, indent=2)
    print(text)
    if said.json is not None:
        said.json.write_text(text + "\n", encoding="utf-8")
    return 0 if agreed else DISAGREED


if __name__ == "__main__":
    sys.exit(main())
