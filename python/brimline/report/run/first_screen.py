"""What the report of a run says in one look: the verdict with its figure, what happened, and the figures beside it."""

from collections.abc import Sequence
from dataclasses import replace

from brimline.analysis.compared_run import METRIC_QUANTILES, lag_shares, metrics
from brimline.analysis.finding import Standing
from brimline.analysis.held import Held
from brimline.analysis.lateness import LAG_CHECK, LAG_SHARE_SPOILS
from brimline.analysis.objective import P99, Slo
from brimline.analysis.observation import Observation
from brimline.analysis.quantile_text import interval_text, median_text, p99_text
from brimline.analysis.silence import is_told
from brimline.analysis.steady import Steadiness
from brimline.analysis.verdict import Judgement, ObjectiveResult, Verdict, judge_objective, proves_nothing, why_nothing
from brimline.record.layout import RUNNING
from brimline.record.model import RunRecord
from brimline.report import blocks
from brimline.report.load_figures import LoadFigures, is_load, load_figures
from brimline.report.view import UNDER_WAY, Badge, Fact, Tone
from brimline.report.view import Verdict as VerdictView
from brimline.units import NS_PER_S, format_count, format_duration, format_number, format_percentage, format_rate
from brimline.wording import capitalised, joined, message

_TONES: dict[Verdict, Tone] = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.INCONCLUSIVE: "warn",
    Verdict.INVALID: "fail",
}

_OFFER_A_RATE = "offer it a rate, by which it can be judged (--rate 2000/s), or use brimline capacity"


def verdict(
    record: RunRecord,
    observation: Observation,
    slo: Slo | None,
    judgement: Judgement | None,
    held: Held | None,
    remarks: Sequence[Fact] = (),
) -> VerdictView:
    """The figure that the verdict is about, larger than all else.

    That is how long nothing was answered where the server was lost for longer than the objective allows, else what the
    objective limits, and without one the rate. The others follow among the facts, behind `remarks`.
    """
    nothing = proves_nothing(observation, judgement)
    judged = None if nothing or judgement is None else judgement.shown
    rate = VerdictView(
        tone=_tone(observation, judgement),
        caption="No figure: the run proves nothing" if nothing else _caption(record, observation),
        figure="" if nothing else format_number(_headline_rate(record, observation), digits=4),
        unit="documents/s" if is_load(record) else "ops/s",
        interval="" if nothing or is_load(record) else _interval(observation),
        sentence=_sentence(record, observation, slo, judgement, held),
        badges=_badges(record, observation, judgement),
        next_step=_OFFER_A_RATE if judgement is None and slo is not None and record.closed_loop and not nothing else "",
    )
    facts = [*remarks, *_headline_facts(record, observation, slo, judged)]
    silence = silence_facts(observation, slo)
    first = [*(silence if _is_lost(observation) and not nothing else []), *judged_facts(judged)]
    if not first:
        return replace(rate, facts=[*silence, *facts])
    of_rate = format_rate(_headline_rate(record, observation), unit=rate.unit, digits=4)
    beside = [*facts[: len(remarks)], Fact(label=rate.caption, value=of_rate, note=rate.interval)]
    beside += facts[len(remarks) :]
    headline, *others = first
    if headline not in silence:
        others = [*silence, *others]
    return replace(
        rate,
        caption=headline.label,
        figure=headline.value,
        unit="",
        interval=headline.note,
        facts=[*others, *beside],
        next_step=_AFTER_OUTAGE if headline in silence else rate.next_step,
    )


_AFTER_OUTAGE = "find out what took the server away, and repeat it; brimline failover measures such a loss"


def _is_lost(observation: Observation) -> bool:
    """Whether in the longest time without an answer there was no server to answer."""
    return observation.silence is not None and observation.silence.is_of_server


def judged_facts(judged: ObjectiveResult | None) -> list[Fact]:
    """What the objective is about, with what decided."""
    if judged is None:
        return []
    return [Fact(label=capitalised(judged.name), value=judged.figure, note=judged.decided_by)]


def silence_facts(observation: Observation, slo: Slo | None) -> list[Fact]:
    """The longest time without an answer, where an objective doesn't allow an operation to take as long."""
    silence = observation.silence
    if silence is None or not is_told(silence, slo, observation.service):
        return []
    length = format_duration(silence.length_ns)
    return [Fact(label="Longest without an answer", value=length, note=silence.what, tone="fail")]


def _sentence(
    record: RunRecord, observation: Observation, slo: Slo | None, judgement: Judgement | None, held: Held | None
) -> str:
    """What happened and what did not go out comes first: a figure must not be read without it."""
    silence, sentences = observation.silence, list[str]()
    is_headline = _is_lost(observation) and not proves_nothing(observation, judgement)
    if silence is not None and is_told(silence, slo, observation.service) and not is_headline:
        sentences.append(message("{sentence}.", sentence=capitalised(silence.text)))
    if observation.unsent:
        sentences.append(message("{sentence}.", sentence=capitalised(observation.unsent)))
    if held is not None:
        sentences.append(_held_sentence(held, slo))
    return joined(" ", [*sentences, _judgement_sentence(record, observation, slo, judgement)])


def _held_sentence(held: Held, slo: Slo | None) -> str:
    """What the run shows of the time before its server was lost."""
    seen = held.observation
    latency, clock = (seen.service, "service") if seen.closed_loop else (seen.response, "response")
    words = {
        "at": format_duration(held.until_ns),
        "length": format_duration(seen.measured_s * NS_PER_S),
        "rate": format_rate(seen.throughput_ops_per_s),
        "clock": clock,
        "p99": p99_text(latency),
    }
    judged = None if slo is None or seen.closed_loop else judge_objective(seen, slo).verdict
    templates = {
        Verdict.PASS: "Until the server was lost at {at}, the objective was met for {length}: {rate}, "
        "{clock} p99 {p99}.",
        Verdict.FAIL: "The objective was missed in the {length} before the server was lost at {at} already: {rate}, "
        "{clock} p99 {p99}.",
    }
    rest = "Until the server was lost at {at}, for {length}: {rate}, {clock} p99 {p99}."
    return message(templates.get(judged, rest) if judged is not None else rest, **words)


def _caption(record: RunRecord, observation: Observation) -> str:
    if observation.target == "null":
        # A rate that was offered, or pauses between operations, say nothing of what could be reached.
        full = observation.back_to_back
        return "Encode-and-record ceiling, without sockets" if full else "Throughput without a server"
    return "Loaded" if is_load(record) else "Throughput"


def _headline_rate(record: RunRecord, observation: Observation) -> float:
    figures = load_figures(record)
    return observation.throughput_ops_per_s if figures is None else figures.documents_per_s


def _interval(observation: Observation) -> str:
    estimate = observation.throughput
    if estimate is None:
        return ""
    return message(
        "95 % CI {low}–{high}",
        low=format_number(estimate.low, digits=4),
        high=format_number(estimate.high, digits=4),
    )


def _tone(observation: Observation, judgement: Judgement | None) -> Tone:
    if proves_nothing(observation, judgement):
        return "fail"
    return _TONES[judgement.verdict] if judgement else ""


def _judgement_sentence(
    record: RunRecord, observation: Observation, slo: Slo | None, judgement: Judgement | None
) -> str:
    if proves_nothing(observation, judgement):
        unit = "documents/s" if is_load(record) else "ops/s"
        rate = format_rate(_headline_rate(record, observation), unit=unit)
        why = capitalised(joined("; ", why_nothing(observation, judgement)))
        return message("{reasons}. Seen, and not to be used: {rate}.", reasons=why, rate=rate)
    if judgement is None:
        if figures := load_figures(record):
            return message(
                "{rate} of {size} documents; times below are those of commands. Write concern {write_concern}.",
                rate=format_rate(figures.commands_per_s, unit="commands/s"),
                size=format_count(figures.batch_size),
                write_concern=figures.write_concern_text,
            )
        if slo is not None and record.follows_target:
            if not record.closed_loop:
                return "Measured, and not judged by its objective: its workers ask a slow server less."
            return "Measured, and not judged by its objective: a closed loop has no response time."
        return "Measured, without an objective to judge it by."
    failed = {each.name for each in observation.findings if each.verdict is Standing.FAIL}
    if judgement.verdict is Verdict.PASS and failed - {LAG_CHECK}:
        late = (
            "The objective is met in spite of a late generator, which only makes response times longer. "
            "Comparisons and trends leave this run out."
        )
        decided = judgement.shown is not None and judgement.shown.basis
        return late if record.complete and not decided else joined(" ", [late, _met(record, observation, judgement)])
    if judgement.verdict is Verdict.PASS:
        return joined(" ", [_met(record, observation, judgement), *_late(observation)])
    words = {Verdict.FAIL: "The objective is missed", Verdict.INCONCLUSIVE: "The run can't tell"}
    what = words.get(judgement.verdict, "The run proves nothing")
    return message("{what}: {reasons}.", what=what, reasons=joined("; ", judgement.reasons))


def _met(record: RunRecord, observation: Observation, judgement: Judgement) -> str:
    """That the objective is met, for how long where the run was cut short, and what decided where it was a bound."""
    basis = "" if judgement.shown is None else judgement.shown.basis
    met = message("The objective is met")
    if not record.complete:
        planned = record.plan.duration_ns
        seen = format_duration(observation.measured_s * NS_PER_S)
        met = message("The objective is met for the {seen} that were measured", seen=seen)
        if planned is not None:
            met = message("{met} of {planned} planned", met=met, planned=format_duration(planned))
    return message("{met}: {basis}.", met=met, basis=basis) if basis else message("{sentence}.", sentence=met)


def _late(observation: Observation) -> list[str]:
    """What comparisons make of a run that met its objective although lag may be most of its p99."""
    shares, response = lag_shares(observation), observation.response
    if response is None or shares.get(P99, 0.0) < LAG_SHARE_SPOILS:
        return []
    spoilt = [
        each
        for each in metrics("open loop")
        if (quantile := METRIC_QUANTILES.get(each.key)) is not None
        and shares.get(quantile, 0.0) >= LAG_SHARE_SPOILS
        and response.quantiles[quantile].is_figure
    ]
    if not spoilt:
        return []
    sentence = message(
        "The generator was late, which only makes response times longer: its lag may be {share} of the response p99, "
        "so that comparisons and trends leave out {figures}.",
        share=format_percentage(shares[P99]),
        figures=joined(", ", (each.label for each in spoilt)),
    )
    return [sentence]


def _badges(record: RunRecord, observation: Observation, judgement: Judgement | None) -> list[Badge]:
    badges = []
    if proves_nothing(observation, judgement):
        badges.append(Badge(text="invalid", tone="fail"))
    elif judgement is not None:
        badges.append(Badge(text=judgement.verdict.value, tone=_TONES[judgement.verdict]))
    if observation.unsent:
        badges.append(blocks.unsent_badge(record.summary["overdue"] if record.summary else observation.overdue))
    if observation.steady is not None and observation.steady.verdict is Steadiness.NOT_STEADY:
        badges.append(Badge(text="no steady state", tone="warn"))
    if record.ended_by == RUNNING:
        badges.append(UNDER_WAY)
    elif not record.complete:
        badges.append(Badge(text=message("ended early: {how}", how=record.ended_by.replace("_", " ")), tone="warn"))
    if record.files_changed:
        badges.append(Badge(text="record changed since it was sealed", tone="fail"))
    if record.summary is not None and record.summary["virtual_clock"]:
        badges.append(Badge(text="simulated on a virtual clock", tone="warn"))
    return badges


def _headline_facts(
    record: RunRecord, observation: Observation, slo: Slo | None, judged: ObjectiveResult | None
) -> list[Fact]:
    load = load_figures(record)
    of_what = "" if load is None else " of a command"
    latency = observation.service if observation.closed_loop else observation.response
    clock = "service" if observation.closed_loop else "response"
    facts = []
    if latency is not None:
        if judged is None or judged.name != message("{clock} {quantile}", clock=clock, quantile="p99"):
            facts.append(Fact(label=f"p99 {clock} time{of_what}", value=p99_text(latency), note=_p99_note(observation)))
        facts.append(Fact(label=f"Median {clock} time{of_what}", value=median_text(latency)))
    if load is None:
        unfinished = latency is not None and latency.p99.never
        note = "of those due in the window that completed" if unfinished else ""
        facts.append(Fact(label="Errors", value=format_percentage(observation.error_rate), note=note))
    else:
        facts += _load_facts(load, observation)
    if observation.steady is not None and observation.steady.warmup_end_ns is not None:
        facts.append(
            Fact(
                label="Warm-up found",
                value=format_duration(observation.steady.warmup_found_ns),
                note=message(
                    "beyond the planned {planned}; not counted", planned=format_duration(record.plan.warmup_ns)
                ),
            )
        )
    if slo is not None:
        facts.append(
            Fact(
                label="Objective",
                value=slo.latency_text,
                note="not judged: a closed loop has no response time"
                if observation.closed_loop and judged is None
                else joined(", ", [each.text for each in slo.errors]),
            )
        )
    if observation.client_cpu_ns_per_op is not None:
        facts.append(
            Fact(
                label="Generator CPU",
                value=format_duration(observation.client_cpu_ns_per_op),
                note="per operation" if load is None else "per command",
            )
        )
    return facts


def _load_facts(load: LoadFigures, observation: Observation) -> list[Fact]:
    inserts = load.inserts
    lost = 0 if inserts is None else inserts["failed"] + inserts["skipped"] + inserts["unknown"]
    return [
        Fact(
            label="Documents",
            value=message("{count} inserted", count=format_count(load.documents_inserted)),
            note=message("{count} sent and not known to be inserted", count=format_count(lost)) if lost else "",
            tone="fail" if lost else "",
        ),
        Fact(label="Commands failed", value=format_percentage(observation.error_rate)),
    ]


def _p99_note(observation: Observation) -> str:
    latency = observation.service if observation.closed_loop else observation.response
    if latency is None:
        return ""
    interval = interval_text(latency.p99)
    if latency.p99.is_figure or latency.p99.high_ns is None:
        return interval
    return message("{interval}; too few operations for a figure", interval=interval)
