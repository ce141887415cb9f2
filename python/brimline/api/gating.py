"""Owns what a gate ends a verb with."""

from collections.abc import Sequence

from brimline.analysis.gate import GateCase, GateVerdict, overall
from brimline.errors import BrimlineError, GateFailed, InvalidRun


def gate_error(cases: Sequence[GateCase]) -> BrimlineError | None:
    """What a gate ends with: 3 when one metric surely became worse than allowed, 4 when that can't be told."""
    verdict = overall(cases)
    deciding = [case for case in cases if case.verdict is verdict]
    told = "; ".join(case.text for case in deciding)
    if verdict is GateVerdict.FAIL:
        return GateFailed(f"the gate failed: {told}", hint="the report shows each metric with its interval")
    if verdict is GateVerdict.INCONCLUSIVE:
        return InvalidRun(
            f"the gate is inconclusive: {told}", hint="; ".join(dict.fromkeys(case.advice for case in deciding))
        )
    return None
