"""Charts of a growth experiment: import time per step, disk over documents, query time over volume."""

from collections.abc import Callable, Sequence
from typing import Any

from brimline.analysis.growth.breakpoints import Breakpoint, Volume
from brimline.experiments.growth.conclusion import IndexSetGrowth
from brimline.plan.pacing import connections_text
from brimline.report import figures
from brimline.report.view import Chart, Key, Sketch
from brimline.units import UNKNOWN_TEXT, format_bytes, format_count, format_duration, format_number
from brimline.wording import joined, message

_US_PER_NS = 1e-3
_MEGABYTES = 1e-6


def import_chart(sets: Sequence[IndexSetGrowth]) -> Chart:
    """Time of each step's import per million documents, so that a shorter last step compares."""
    data = [
        _marked(each.indexes.value, each.volumes, [_import_s(volume) for volume in each.volumes], color)
        for each, color in zip(sets, figures.SERIES, strict=False)
    ]
    highest = max((_import_s(volume) or 0.0 for each in sets for volume in each.volumes), default=0.0)
    layout = figures.layout(
        xaxis=_records_axis(sets), yaxis=figures.zero_based("import time, s per million documents", highest)
    )
    for each in sets:
        _mark_break(layout, each.import_break)
    return Chart(
        id="import",
        title="Import time per step",
        caption="How long each step took to import, per million documents. Level: the volume doesn't matter. "
        "A dotted line is a breakpoint, the band its 95 % interval.",
        summary=_summary(sets[0], lambda volume: _import_text(volume)),
        figure={"data": data, "layout": layout},
        legend=_keys(sets),
    )


def disk_chart(growth: IndexSetGrowth) -> Chart | None:
    """Sizes over documents, of one index set; None where the server doesn't tell any."""
    parts: list[tuple[str, str, Callable[[Volume], int | None]]] = [
        ("data, uncompressed", figures.SERIES[0], lambda volume: volume.load.data_bytes),
        ("collection on disk", figures.SERIES[1], lambda volume: volume.load.storage_bytes),
        ("indexes on disk", figures.SERIES[2], lambda volume: volume.load.index_bytes),
        ("all files, journal included", figures.SERIES[3], lambda volume: volume.load.files_bytes),
    ]
    data, keys, highest = [], [], 0.0
    for name, color, of in parts:
        sizes = [None if (size := of(volume)) is None else size * _MEGABYTES for volume in growth.volumes]
        if known := [size for size in sizes if size is not None]:
            data.append(_marked(name, growth.volumes, sizes, color))
            keys.append(Key(name=name, color=color, mark="line"))
            highest = max(highest, *known)
    if not data:
        return None
    layout = figures.layout(xaxis=_records_axis([growth]), yaxis=figures.zero_based("size, MB", highest))
    return Chart(
        id=f"disk-{growth.indexes}",
        title="Disk over documents",
        caption=message(
            "After a checkpoint at the end of each step; index set: {indexes}. All files: what the server's directory "
            "takes, with a journal made in advance.",
            indexes=growth.indexes.value,
        ),
        summary=_summary(growth, lambda volume: _bytes_text(volume.load.storage_bytes)),
        figure={"data": data, "layout": layout},
        legend=keys,
    )


def query_chart(growth: IndexSetGrowth) -> Chart | None:
    """Time per query over the volume, a line for each number of connections, with the fit of the fewest."""
    lines = []
    for each, color in zip(growth.query_breaks, figures.SERIES, strict=False):
        times = {records: time * _US_PER_NS for records, time in zip(each.volumes, each.values, strict=True)}
        if times:
            lines.append((each, color, [times.get(volume.records) for volume in growth.volumes]))
    if not lines:
        return None
    data = [_marked(_connections(each), growth.volumes, times, color) for each, color, times in lines]
    first = growth.query_break
    keys = [Key(name=_connections(each), color=color, mark="line") for each, color, _ in lines]
    if first.result.fitted:
        fitted = [value * _US_PER_NS for value in first.result.fitted]
        data.append(figures.line("fitted", first.result.volumes, fitted, figures.INK, line={"dash": "dash"}))
        keys.append(
            Key(name=message("fitted, {connections}", connections=_connections(first)), color=figures.INK, mark="dash")
        )
    layout = figures.layout(
        xaxis=_records_axis([growth]),
        yaxis=figures.zero_based(
            "time per query, µs", max(time for *_, times in lines for time in times if time is not None)
        ),
    )
    _mark_break(layout, first)
    return Chart(
        id=f"queries-{growth.indexes}",
        title="Query time over volume",
        caption=message(
            "Mean time of a query inside the server at the machine's typical speed; index set: {indexes}. "
            "The dotted line is the breakpoint with the fewest connections, the band its 95 % interval.",
            indexes=growth.indexes.value,
        ),
        summary=_summary(growth, lambda volume: _time_text(volume.time_ns(first.connections))),
        figure={"data": data, "layout": layout},
        legend=keys,
        height_px=380,
        sketch=Sketch(axis="y", caption="time per query, µs, over records"),
    )


def _import_s(volume: Volume) -> float | None:
    return 1e6 / volume.load.documents_per_s if volume.load.documents_per_s else None


def _bytes_text(size: int | None) -> str:
    return UNKNOWN_TEXT if size is None else format_bytes(size)


def _time_text(time_ns: float | None) -> str:
    return UNKNOWN_TEXT if time_ns is None else format_duration(time_ns)


def _import_text(volume: Volume) -> str:
    seconds = _import_s(volume)
    return UNKNOWN_TEXT if seconds is None else message("{time} s", time=format_number(seconds))


def _connections(each: Breakpoint) -> str:
    return connections_text(each.connections)


def _records_axis(sets: Sequence[IndexSetGrowth]) -> dict[str, Any]:
    highest = max(volume.records for each in sets for volume in each.volumes)
    return figures.zero_based("records in the collection", highest)


def _marked(name: str, volumes: Sequence[Volume], values: Sequence[float | None], color: str) -> dict[str, Any]:
    more = {"mode": "lines+markers", "marker": {"size": 6}}
    return figures.line(name, [volume.records for volume in volumes], values, color) | more


def _mark_break(layout: dict[str, Any], each: Breakpoint) -> None:
    if each.result.found is None:
        return
    position = each.result.found.position
    layout["shapes"].append(
        {"type": "rect", "xref": "x", "x0": position.low, "x1": position.high, "yref": "paper", "y0": 0, "y1": 1}
        | {"fillcolor": figures.BAND, "line": {"width": 0}, "layer": "below"}
    )
    figures.extend(layout, figures.vertical(position.value, "breakpoint", figures.FAIL))


def _keys(sets: Sequence[IndexSetGrowth]) -> list[Key]:
    return [
        Key(name=each.indexes.value, color=color, mark="line")
        for each, color in zip(sets, figures.SERIES, strict=False)
    ]


def _summary(growth: IndexSetGrowth, of: Callable[[Volume], str]) -> str:
    parts = [
        message("{records} records: {value}", records=format_count(volume.records), value=of(volume))
        for volume in growth.volumes
    ]
    return message("{points}.", points=joined("; ", parts))
