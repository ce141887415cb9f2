"""Every slip in the five field reports that a machine can find, with the reports' own figures."""

import pytest

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint import lint
from brimline.analysis.lint.claims_file import read_claims

S0_READS = """\
results:
- {name: mongodb-4410, work: read, threads: 4410, loops: 35, samples: 154_350, duration: 100s, throughput: 1544/s,
   mean: 8.5ms, p99: 49ms, percentile_samples: 20000}
- {name: mysql, work: read, throughput: 183/s}
ratios:
- {name: MongoDB against MySQL, of: mongodb-4410, to: mysql, value: 8.43}
limits:
- name: threads
  good: 4410
  bad: 4411
  repeats: [4800, 4700]
  runs: 1
  series: [[4411, 150ms], [4413, 351ms], [4415, 300ms], [4420, 200ms], [4450, 300ms]]
repeats:
- {name: 4800-2-10 on two days, values: [69ms, 300ms]}
- {name: limit in 10 s and in 100 s, values: [1120/s, 1544/s]}
"""
S0_WRITES = """\
results:
- {name: 4750-40-100, work: write, threads: 4750, loops: 40, samples: 19000, errors: 133, error_rate: 0.07%}
- {name: 5000-40-100, work: write, threads: 5000, loops: 40, samples: 179_960}
- {name: mongodb, work: write, throughput: 1780/s}
- {name: mysql, work: write, throughput: 400/s}
ratios: [{name: writes, of: mongodb, to: mysql, value: 4.45}]
conclusions: [{text: "read efficiency is 4.45 times as high", about: [mongodb, mysql]}]
"""
S1 = """\
results:
- {name: blocking, throughput: 25706/s, mean: 767us, runs: 1}
- {name: async, throughput: 27675/s, mean: 712us, runs: 1}
"""
S2 = """\
results:
- {name: 16 x 64 B, work: write, threads: 100, throughput: 34371/s, mean: 2874us, p95: 8035us, p99: 20767us,
   limit: true}
- {name: 16 x 38 B, work: write, threads: 100, throughput: 57730/s, mean: 1717us, p95: 6279us, p99: 14743us}
- {name: 27 x 38 B, work: write, threads: 100, throughput: 55452/s, mean: 1797us, p95: 1518us, p99: 3451us}
- {name: index scan 5, work: read, documents: 9423255, duration: 10s, document_rate: 9423255/s}
- {name: production, work: read, documents: 233M, document_size: 547B, duration: 518s, document_rate: 450k/s,
   bytes_rate: 108MB/s}
repeats: [{name: first query and later ones, values: [45s, 5s]}]
"""
S4 = """\
results:
- {name: alone, time_per_operation: 0.0741ms}
- {name: while importing, time_per_operation: 0.1015ms}
- {name: case 2, samples: 80000, duration: 8014ms, time_per_operation: 0.010ms}
ratios: [{name: queries while importing, of: while importing, to: alone, figure: time_per_operation, said: slight}]
"""


def found(text: str) -> list[Finding]:
    return list(lint(read_claims(text, "claims.yaml")))


@pytest.mark.parametrize(
    ("text", "name", "verdict", "words"),
    [
        (S0_WRITES, "error_share", "fail", "would mean 190 000 samples"),
        (S0_WRITES, "error_share", "fail", "4750-40-100: says 0.07 %, but errors / samples is 0.7 %"),
        (S0_WRITES, "planned", "warn", "planned 190 000, sent 19 000: 90 % never went out; it is ten times"),
        (S0_WRITES, "planned", "warn", "5000-40-100: planned 200 000, sent 179 960: 10 % never went out"),
        (S0_WRITES, "label", "fail", '"read efficiency is 4.45 times as high" names read, its results are write'),
        (S0_WRITES, "ratio", "pass", "4.45"),
        (S0_READS, "ratio", "pass", "8.43"),
        (S0_READS, "throughput", "pass", "1 544/s is samples / duration"),
        (S0_READS, "limit_resolution", "warn", "a step of 0.0227 %; repeats differ by 2.13 %: noise"),
        (S0_READS, "limit_series", "warn", "4 415 was faster than 4 413"),
        (S0_READS, "runs", "warn", "threads: one run"),
        (S0_READS, "percentile_window", "warn", "percentiles are of 20 000 of 154 350 samples"),
        (S0_READS, "littles_law", "warn", "throughput × mean time is 13.10, threads 4 410: threads were idle"),
        (S0_READS, "repeats", "warn", "4800-2-10 on two days: repeats differ by 335 %"),
        (S0_READS, "repeats", "warn", "limit in 10 s and in 100 s: repeats differ by 37.9 %"),
        (S1, "means_only", "warn", "blocking: a mean and no percentile"),
        (S1, "runs", "warn", "async: one run"),
        (S2, "littles_law", "pass", "16 x 64 B: throughput × mean time is 98.80, threads 100"),
        (S2, "littles_law", "pass", "16 x 38 B: throughput × mean time is 99.10, threads 100"),
        (S2, "littles_law", "pass", "27 x 38 B: throughput × mean time is 99.60, threads 100"),
        (S2, "limit", "warn", "the number of threads bound the load, no limit was found"),
        (S2, "documents_per_s", "fail", "says 9 423 255/s, but documents / duration is 942 326/s; it is ten times"),
        (S2, "bytes_per_s", "warn", "production: says 108 MB/s, but documents × size / duration is 246 MB/s"),
        (S2, "repeats", "warn", "first query and later ones: repeats differ by 800 %"),
        (S4, "time_per_operation", "fail", "case 2: says 10.0 µs, but duration / samples is 100 µs; it is ten times"),
        (S4, "words", "fail", 'called "slight", the change is +37 %'),
    ],
)  # fmt: skip
def test_slip_is_found(text: str, name: str, verdict: str, words: str) -> None:
    seen = [each for each in found(text) if each.name == name]
    wanted = [each for each in seen if each.verdict.value == verdict]
    evidence = "\n".join(each.evidence for each in seen)
    assert any(words in each.evidence for each in wanted), evidence


@pytest.mark.parametrize("text", [S0_READS, S1])
def test_what_is_true_is_no_contradiction(text: str) -> None:
    assert [each for each in found(text) if each.verdict is Standing.FAIL] == []


def test_contradictions_are_exactly_those_of_the_reports() -> None:
    failed = [(each.name, each.evidence.split(":")[0]) for text in (S0_WRITES, S2, S4) for each in found(text)
              if each.verdict is Standing.FAIL]  # fmt: skip
    assert failed == [
        ("error_share", "4750-40-100"),
        ("label", '"read efficiency is 4.45 times as high" names read, its results are write'),
        ("documents_per_s", "index scan 5"),
        ("time_per_operation", "case 2"),
        ("words", "queries while importing"),
    ]


@pytest.mark.parametrize(
    "repaired",
    [
        S0_WRITES.replace("19000", "190_000").replace("read efficiency", "write efficiency"),
        S2.replace("9423255/s", "942326/s"),
        S4.replace("0.010ms", "0.10ms").replace("0.1015ms", "0.0800ms"),
    ],
)
def test_repaired_reports_have_none(repaired: str) -> None:
    assert [each for each in found(repaired) if each.verdict is Standing.FAIL] == []
