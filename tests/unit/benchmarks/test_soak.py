"""The soak: slopes of known series, and what makes it fail."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import soak
from benchmarks.soak import Sample, Soak, Trend, faults, trend

EVERY_S = 10


def samples(*resident_mb: float) -> list[Sample]:
    return [Sample(number * EVERY_S, value) for number, value in enumerate(resident_mb)]


def soaked(series: list[Sample], *, record_mb: float = 1.0) -> Soak:
    return Soak(
        samples=series, load_peak_mb=70.0, whole_peak_mb=200.0, record_mb=record_mb, with_report_mb=30.0, exit_code=0
    )


def test_a_straight_line_has_its_slope_and_no_error() -> None:
    # 0.1 MB every 10 s are 36 MB per hour.
    found = trend(samples(*(60 + 0.1 * number for number in range(100))))
    assert found.slope == pytest.approx(36)
    assert found.standard_error == pytest.approx(0, abs=1e-6)
    assert not found.within_noise


def test_the_standard_error_is_that_of_the_textbook() -> None:
    # x = 0, 1, 2, 3 and y = 1, 3, 2, 4: slope 0.8, squares left 1.8 with 2 degrees of freedom, squares of x 5.
    found = trend(samples(1, 3, 2, 4))
    per_hour = 3600 / EVERY_S
    assert found.slope == pytest.approx(0.8 * per_hour)
    assert found.standard_error == pytest.approx(math.sqrt(0.9 / 5) * per_hour)


def test_memory_that_goes_up_and_down_is_level() -> None:
    found = trend(samples(*(60 + 0.5 * (number % 2) for number in range(180))))
    assert abs(found.slope) < found.standard_error
    assert found.within_noise


@pytest.mark.parametrize(
    ("slope", "standard_error", "within"),
    [(29.0, 10.0, True), (31.0, 10.0, False), (0.99, 0.0, True), (1.01, 0.0, False), (-20.0, 0.0, True)],
)
def test_noise_is_three_standard_errors_or_less_than_one_mb_per_hour(
    slope: float, standard_error: float, within: bool
) -> None:
    assert Trend(slope, standard_error).within_noise is within


def test_the_first_two_minutes_are_left_out() -> None:
    rising_first = samples(*(min(number, 12) * 5 for number in range(60)))
    assert soaked(rising_first).trend == Trend(0.0, 0.0)
    assert not trend(rising_first).within_noise


def test_a_rise_and_a_large_record_are_faults() -> None:
    level, rising = samples(*(60.0 for _ in range(60))), samples(*(60 + 0.1 * number for number in range(60)))
    assert faults(soaked(level, record_mb=19.9)) == []
    assert faults(soaked(level, record_mb=20.0)) == ["the record takes 20.0 MB, 20 or more"]
    assert faults(soaked(rising)) == ["memory rises by 36.0 MB per hour"]


def test_a_process_is_followed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "SAMPLE_EVERY_S", 0.1)
    monkeypatch.setattr(soak, "SAMPLE_EVERY_AT_END_S", 0.02)
    # 50 MB are written to only after the load, and given back before the end.
    program = "import time; time.sleep(2); held = b'x' * 50_000_000; time.sleep(1); del held; time.sleep(0.5)"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        seen, load_peak_mb, whole_peak_mb = soak.followed(process, load_s=1.0)
    assert 2 <= len(seen) <= 11
    assert all(sample.at_s <= 1.0 and 0 < sample.resident_mb <= load_peak_mb for sample in seen)
    assert load_peak_mb + 45 < whole_peak_mb < load_peak_mb + 100


def test_memory_is_in_millions_of_bytes() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory = soak.memory_mb(os.getpid())
    assert memory is not None
    assert memory["VmRSS"] == pytest.approx(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, rel=0.02)
    assert memory["VmHWM"] >= memory["VmRSS"]
