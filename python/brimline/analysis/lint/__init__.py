"""Owns report lint: what a report claims is recomputed from what else it claims, and contradictions are named.

Pure. `Claims` is what a report says; `lint` returns a finding per check that could be made. A failed one can't be
true; a warning is true and doesn't carry what is said about it.
"""

from collections.abc import Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Claims, Conclusion, Limit, Ratio, Repeated, Result
from brimline.analysis.lint.concurrency import concurrency_findings
from brimline.analysis.lint.counts import count_findings
from brimline.analysis.lint.derived import derived_findings
from brimline.analysis.lint.distribution import distribution_findings
from brimline.analysis.lint.figure import Figure
from brimline.analysis.lint.labels import label_findings
from brimline.analysis.lint.limits import limit_findings
from brimline.analysis.lint.relations import relation_findings

__all__ = ["Claims", "Conclusion", "Figure", "Limit", "Ratio", "Repeated", "Result", "contradictions", "lint"]

_ORDER = (Standing.FAIL, Standing.WARN, Standing.UNKNOWN, Standing.PASS)


def lint(claims: Claims) -> tuple[Finding, ...]:
    """Every finding, contradictions first."""
    findings = [
        *(finding for result in claims.results for finding in derived_findings(result)),
        *concurrency_findings(claims),
        *count_findings(claims),
        *distribution_findings(claims),
        *relation_findings(claims),
        *limit_findings(claims),
        *label_findings(claims),
    ]
    return tuple(sorted(findings, key=lambda each: _ORDER.index(each.verdict)))


def contradictions(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those that can't be true."""
    return tuple(each for each in findings if each.verdict is Standing.FAIL)
