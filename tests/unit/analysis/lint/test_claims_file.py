"""The file of claims: digits become tolerances, and what is wrong is named with its line."""

import pytest

from brimline.analysis.lint.claims_file import read_claims
from brimline.errors import SpecError


@pytest.mark.parametrize(
    ("key", "text", "field", "value", "tolerance"),
    [
        ("throughput", "1544/s", "throughput_per_s", 1544.0, 0.5),
        ("throughput", "1544.0/s", "throughput_per_s", 1544.0, 0.05),
        ("throughput", "55k/s", "throughput_per_s", 55_000.0, 500.0),
        ("error_rate", "0.07%", "error_share", 0.0007, 0.00005),
        ("mean", "8.5ms", "mean_ns", 8.5e6, 5e4),
        ("mean", "2874us", "mean_ns", 2.874e6, 500.0),
        ("duration", "100s", "duration_s", 100.0, 0.5),
        ("samples", "19000", "samples", 19_000.0, 0.0),
        ("samples", "19k", "samples", 19_000.0, 500.0),
        ("samples", "10 001", "samples", 10_001.0, 0.0),
        ("samples", "1\u202f000\u202f000", "samples", 1_000_000.0, 0.0),
        ("samples", "1万", "samples", 10_000.0, 5_000.0),
        ("samples", "1.2 亿", "samples", 1.2e8, 5e6),
        ("throughput", "10 780.5/s", "throughput_per_s", 10_780.5, 0.05),
        ("throughput", "1.2 万次/秒", "throughput_per_s", 12_000.0, 500.0),
        ("bytes_rate", "49MB/s", "bytes_per_s", 49e6, 5e5),
        ("document_size", "600B", "document_bytes", 600.0, 0.5),
    ],
)
def test_a_figure_has_the_digits_it_was_given(key: str, text: str, field: str, value: float, tolerance: float) -> None:
    claims = read_claims(f"results: [{{name: a, {key}: {text}}}]", "c.yaml")
    figure = getattr(claims.results[0], field)
    assert (figure.value, figure.tolerance) == (pytest.approx(value), pytest.approx(tolerance))


def test_percentiles_by_name() -> None:
    claims = read_claims("results: [{name: a, p50: 1ms, p99.9: 2ms}]", "c.yaml")
    assert {key: each.value for key, each in claims.results[0].percentiles_ns.items()} == {0.5: 1e6, 0.999: 2e6}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("results: [{name: a, thruput: 1/s}]", "c.yaml:1: results[0].thruput: unknown key"),
        ("results:\n- name: a\n  mean: 8.5", 'c.yaml:3: results[0].mean: "8.5" has no unit'),
        ("results: [{name: a, error_rate: 0.07}]", "is no percentage"),
        ("results: [{name: a, samples: -1}]", "must not be negative"),
        ("results: [{name: a, samples: .inf}]", "must be finite"),
        ("results: [{name: a, samples: true}]", "must be a figure"),
        ("results: [{name: a, bytes_rate: 49MB}]", "is no rate of bytes"),
        ("results: [{name: a, samples: 1000 500}]", "is no count"),
        ("results: [{name: a, samples: 10 00}]", "is no count"),
        ("results: [{samples: 1}]", "name: is missing"),
        ("results: [{name: a}, {name: a}]", 'a second result is called "a"'),
        ("results: [{name: a, parts: [b]}]", 'no result is called "b"'),
        ("results: [{name: a, runs: 0}]", "must be a whole number from 1 on"),
        ("results: [{name: a, work: reading}]", "is no known value"),
        ("results: {name: a}", "must be a list, not a mapping"),
        ("results: [a]", "must be a mapping"),
        ("ratios: [{name: a, of: x, to: y, value: 2}]", 'no result is called "x"'),
        ("results: [{name: x}]\nratios: [{name: a, of: x, to: x}]", "needs a value"),
        ("results: [{name: x}]\nratios: [{name: a, of: x, to: x, value: 1, figure: speed}]", "is no known figure"),
        ("limits: [{name: a, good: 1}]", "bad: is missing"),
        ("limits: [{name: a, good: 1, bad: 2, series: [3]}]", "must be a load and the time"),
        ("repeats: [{name: a, values: [1]}]", "needs at least two values"),
        ("results: [{name: x}]\nconclusions: [{text: a}]", "needs the results"),
        ("", "c.yaml is empty"),
        ("results: [{name: a, name: b}]", "occurs twice"),
        ("results: &a []", "anchor"),
        ("[", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_named(text: str, words: str) -> None:
    with pytest.raises(SpecError) as error:
        read_claims(text, "c.yaml")
    assert words in error.value.message
