"""What a soak asks for: how long, how finely, at which rate, and what is left of it."""

import pytest

from brimline.experiments.soak.order import Soak, SoakProbe, SoakSettings, SoakTrial

DAY_S = 24 * 3600.0


def part(measured_s: float, number: int = 1) -> SoakTrial:
    probe = SoakProbe(stage="part", number=number, rate_ops_per_s=None, warmup_s=0.0, duration_s=40.0)
    return SoakTrial(probe=probe, measured_s=measured_s, throughput_ops_per_s=50.0, ended_by="killed")


def level(throughput_ops_per_s: float, ended_by: str = "completed") -> SoakTrial:
    probe = SoakProbe(stage="level", number=1, rate_ops_per_s=None, warmup_s=2.0, duration_s=10.0)
    return SoakTrial(probe=probe, measured_s=10.0, throughput_ops_per_s=throughput_ops_per_s, ended_by=ended_by)


@pytest.mark.parametrize(
    ("duration_s", "interval_s"),
    [(1.0, 0.1), (60.0, 0.1), (300.0, 0.5), (600.0, 1.0), (DAY_S, 1.0), (2 * DAY_S, 2.0), (30 * DAY_S, 30.0)],
)
def test_a_soak_of_any_length_has_enough_intervals_and_no_more_than_a_day_of_seconds(
    duration_s: float, interval_s: float
) -> None:
    assert SoakSettings(duration_s=duration_s).interval_s == pytest.approx(interval_s)


@pytest.mark.parametrize(
    ("duration_s", "said_s", "warmup_s"), [(100.0, None, 5.0), (3600.0, None, 60.0), (3600.0, 0.0, 0.0)]
)
def test_the_warm_up_is_a_twentieth_and_a_minute_at_most(
    duration_s: float, said_s: float | None, warmup_s: float
) -> None:
    assert SoakSettings(duration_s=duration_s, warmup_s=said_s).effective_warmup_s == warmup_s


@pytest.mark.parametrize(
    ("duration_s", "measured_s", "left_s"),
    [
        (40.0, [], 40.0),
        (40.0, [15.0], 25.0),
        (40.0, [15.0, 24.0], 1.0),
        (40.0, [15.0, 24.1], None),
        (1.0, [0.5], 0.5),
        (1.0, [0.6], None),
    ],
)
def test_what_is_left_is_asked_for_unless_it_is_too_short_for_a_run(
    duration_s: float, measured_s: list[float], left_s: float | None
) -> None:
    parts = [part(each, number) for number, each in enumerate(measured_s, start=1)]
    probe = Soak(SoakSettings(duration_s=duration_s), offers=True).next_probe(parts)
    found = None if probe is None else (probe.stage, probe.number, probe.duration_s)
    assert found == (None if left_s is None else ("part", len(parts) + 1, pytest.approx(left_s)))


def test_without_a_rate_half_of_what_a_closed_loop_answered_is_asked_for() -> None:
    soak = Soak(SoakSettings(duration_s=40.0), offers=False)
    for trials in ([], [level(1234.0, "killed")]):
        first = soak.next_probe(trials)
        assert first is not None and (first.stage, first.rate_ops_per_s, first.duration_s) == ("level", None, 10.0)
    second = soak.next_probe([level(1234.0)])
    assert second is not None and (second.stage, second.rate_ops_per_s, second.duration_s) == ("part", 620.0, 40.0)
    assert soak.next_probe([level(0.0)]) is None, "what answers nothing has no rate"
