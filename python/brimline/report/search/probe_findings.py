"""The checks of an experiment's probes, each once, with its worst result."""

from collections import defaultdict
from collections.abc import Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.experiments.trial import Trial
from brimline.wording import message

_RANK = {Standing.FAIL: 0, Standing.WARN: 1, Standing.UNKNOWN: 2, Standing.PASS: 3}


def worst_findings(trials: Sequence[Trial], *, are_runs: bool = False) -> list[Finding]:
    """Each check once: its worst result over all probes of the server, and in how many of them it came out so.

    Some checks say something only where there is something to say. `are_runs`: the report calls them runs.
    """
    by_name: dict[str, list[tuple[Finding, str]]] = defaultdict(list)
    for number, trial in enumerate(trials, start=1):
        if _is_measured(trial):
            for finding in trial.observation.findings:
                where = message("run {number}" if are_runs else "probe {number}", number=number)
                by_name[finding.name].append((finding, where))
    count = sum(_is_measured(trial) for trial in trials)
    return [_worst(name, found, count, are_runs=are_runs) for name, found in by_name.items()]


def _is_measured(trial: Trial) -> bool:
    """Whether it is a probe of the server, and could be had."""
    return trial.probe.target == "server" and not trial.failed


def search_findings(trials: Sequence[Trial], *, client_limited: bool) -> list[Finding]:
    """`worst_findings` of a search, which judges its probes by more than their checks.

    What an open-loop probe suffered from its generator is a warning, unless the search ended because of it.
    """
    closed_loop = [trial for trial in trials if trial.probe.rate_ops_per_s is None]
    spoilt_sweep = {
        finding.name
        for trial in closed_loop
        for finding in trial.observation.findings
        if _is_measured(trial) and finding.verdict is Standing.FAIL
    }
    return [
        _generator_warning(finding, trials)
        if finding.verdict is Standing.FAIL
        and finding.name in GENERATOR_CHECKS
        and finding.name not in spoilt_sweep
        and not client_limited
        else finding
        for finding in worst_findings(trials)
    ]


_SHORTCOMINGS = {
    "generator_lag": "late",
    "kept_in_flight": "behind with replies",
    "standstills": "not let run",
    "runner_standstills": "not let run",
}


def _generator_warning(failed: Finding, trials: Sequence[Trial]) -> Finding:
    count = sum(
        finding.name == failed.name and finding.verdict is Standing.FAIL
        for trial in trials
        if _is_measured(trial)
        for finding in trial.observation.findings
    )
    what = _SHORTCOMINGS.get(failed.name, "short of CPU or headroom")
    where = message("{what} in {count} probe" if count == 1 else "{what} in {count} probes", what=what, count=count)
    evidence = message(
        "{where}; where such a probe passed, it counts: lateness only makes response times longer", where=where
    )
    return Finding(failed.name, Standing.WARN, evidence)


def _worst(name: str, found: Sequence[tuple[Finding, str]], count: int, *, are_runs: bool) -> Finding:
    """`count`: all probes of the server, whether they have this check or not."""
    worst, where = min(found, key=lambda each: _RANK[each[0].verdict])
    same = sum(finding.verdict is worst.verdict for finding, _ in found)
    if count == 1:
        only = message("in the only run" if are_runs else "in the only probe")
        return Finding(name, worst.verdict, only if worst.verdict is Standing.PASS else worst.evidence)
    if worst.verdict is Standing.PASS and same == count:
        everywhere = message("in all {count} runs" if are_runs else "in all {count} probes", count=count)
        return Finding(name, worst.verdict, everywhere)
    evidence = message(
        "in {same} of {count} runs; {where}: {evidence}"
        if are_runs
        else "in {same} of {count} probes; {where}: {evidence}",
        same=same,
        count=count,
        where=where,
        evidence=worst.evidence,
    )
    return Finding(name, worst.verdict, evidence)
