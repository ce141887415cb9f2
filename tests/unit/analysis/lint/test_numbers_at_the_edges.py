"""Figures at the edges in a file of claims: findings, or one error that names the line."""

import pytest

from brimline.analysis.lint import lint
from brimline.analysis.lint.claims_file import read_claims
from brimline.errors import BrimlineError
from tests.unit.spec.test_spec_numbers_at_the_edges import EDGES

KEYS = ("samples", "errors", "error_rate", "throughput", "threads", "duration", "mean", "min", "max", "p50", "p99")


@pytest.mark.parametrize("key", KEYS)
def test_every_figure_at_every_edge(key: str) -> None:
    good = {"samples": "1000", "duration": "10s", "throughput": "100/s", "mean": "5ms", "p99": "9ms"}
    for edge in EDGES:
        for written in (edge, f'"{edge}"'):
            lines = "".join(f"    {name}: {value}\n" for name, value in {**good, key: written}.items())
            try:
                lint(read_claims(f"results:\n  - name: a\n{lines}", "claims.yaml"))
            except BrimlineError as error:
                assert error.message.startswith("claims.yaml:"), error.message
