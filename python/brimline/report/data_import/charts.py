"""Owns the charts of an import: its rate above the time the server took for a command, and CPU time of the client."""

from collections.abc import Sequence
from dataclasses import dataclass

from brimline.record.data_import import ImportRecord
from brimline.report import figures
from brimline.report.run.charts import hover_text
from brimline.report.view import Chart, Key, Sketch
from brimline.units import format_duration, format_rate
from brimline.wording import message

_BUCKETS_MAX = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bucket:
    """One or several intervals. `p99_ns` is the largest of theirs."""

    middle_s: float
    documents_per_s: float
    bytes_per_s: float
    cpu_share: float
    p99_ns: int | None


def chart_list(record: ImportRecord) -> list[Chart]:
    """The charts that the intervals allow; none of an import that was over within two of them.

    Nor where commands were answered in only one: a line of one point is a dot.
    """
    buckets = _buckets(record)
    answered = [each for each in buckets if each.p99_ns is not None]
    return [_over_time(buckets, record), _cpu(buckets, record)] if len(answered) > 1 else []


def _buckets(record: ImportRecord) -> list[_Bucket]:
    rows, p99s = list(record.rows), list(record.interval_p99_ns)
    width = -(-len(rows) // _BUCKETS_MAX) or 1
    buckets = []
    for begin in range(0, len(rows), width):
        group, tops = rows[begin : begin + width], p99s[begin : begin + width]
        length_s = (group[-1].end_ns - group[0].start_ns) / 1e9
        if length_s > 0:
            buckets.append(
                _Bucket(
                    middle_s=(group[0].start_ns + group[-1].end_ns) / 2e9,
                    documents_per_s=sum(each.documents for each in group) / length_s,
                    bytes_per_s=sum(each.input_bytes for each in group) / length_s,
                    cpu_share=sum(each.process_cpu_ns for each in group) / length_s / 1e9,
                    p99_ns=max((each for each in tops if each is not None), default=None),
                )
            )
    return buckets


def _over_time(buckets: Sequence[_Bucket], record: ImportRecord) -> Chart:
    times = [each.middle_s for each in buckets]
    rates = [each.documents_per_s for each in buckets]
    p99s = [each.p99_ns for each in buckets]
    text = [None if value is None else format_duration(value) for value in p99s]
    hover = hover_text("%{x:.1f} s: %{y:,.0f} ", "documents/s", "acknowledged")
    line = figures.line("command p99", times, p99s, figures.P99, yaxis="y2")
    layout = figures.layout(
        xaxis=figures.axis(
            "time since the start of the import, s", range=[0, record.rows[-1].end_ns / 1e9], anchor="y2"
        ),
        yaxis=figures.zero_based(message("import rate, {unit}", unit="documents/s"), max(rates), domain=[0.56, 1]),
        yaxis2=figures.latency_axis("command p99", [value for value in p99s if value is not None], domain=[0, 0.46]),
    )
    return Chart(
        id="over-time",
        title="Import rate and command latency over time",
        caption="Each point is a second. Latency is the time from sending a command to its answer.",
        summary=message(
            "Acknowledged documents: {low} to {high} per interval.",
            low=format_rate(min(rates), unit="documents/s"),
            high=format_rate(max(rates), unit="documents/s"),
        ),
        figure={
            "data": [
                figures.line("acknowledged", times, rates, figures.THROUGHPUT, yaxis="y", hovertemplate=hover),
                line | {"text": text, "hovertemplate": hover_text("%{x:.1f} s: ", "%{text}", "command p99")},
            ],
            "layout": layout,
        },
        legend=[
            Key(name="acknowledged", color=figures.THROUGHPUT, mark="line"),
            Key(name="command p99", color=figures.P99, mark="line"),
        ],
        height_px=520,
        sketch=Sketch(axis="y2", caption="command p99 over time, s"),
    )


def _cpu(buckets: Sequence[_Bucket], record: ImportRecord) -> Chart:
    times = [each.middle_s for each in buckets]
    shares = [each.cpu_share for each in buckets]
    layout = figures.layout(
        xaxis=figures.axis("time since the start of the import, s", range=[0, record.rows[-1].end_ns / 1e9]),
        yaxis=figures.zero_based("processors in use by brimline", max(shares)),
    )
    return Chart(
        id="client-cpu",
        title="CPU of the client over time",
        caption="Reading, converting and sending together.",
        summary=message("{low} to {high} processors in use.", low=f"{min(shares):.2f}", high=f"{max(shares):.2f}"),
        figure={"data": [figures.line("client", times, shares, figures.SERIES[3])], "layout": layout},
        legend=[Key(name="client", color=figures.SERIES[3], mark="line")],
        height_px=260,
    )
