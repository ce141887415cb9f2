"""A growth experiment as a report: breakpoints and their causes, import, disk and queries over the volume."""

from collections.abc import Sequence

from brimline.analysis.distribution import Shard, work_together
from brimline.analysis.growth.breakpoints import ALPHA, Breakpoint, Volume
from brimline.experiments.growth.conclusion import GrowthConclusion, IndexSetGrowth
from brimline.experiments.growth.order import GrowthEnd, GrowthSettings, GrowthTrial, Protocol
from brimline.plan.pacing import connections_text
from brimline.record.experiment import ExperimentRecord
from brimline.report.distribution import distribution_table
from brimline.report.frame import experiment_report
from brimline.report.growth.as_json import growth_document
from brimline.report.growth.charts import disk_chart, import_chart, query_chart
from brimline.report.growth.grids import growth_grids
from brimline.report.view import Badge, Block, Cell, Column, Fact, Report, Section, Table, Text, Verdict
from brimline.units import (
    UNKNOWN_TEXT,
    format_bytes,
    format_count,
    format_duration,
    format_number,
    format_percentage,
    format_rate,
)
from brimline.wording import capitalised, message

_PROTOCOLS = {
    Protocol.HOT: "hot: nothing is dropped; before the first measured batch of each volume the same kind of queries is "
    "asked until the cache reads about as much as in the batch before",
    Protocol.WARM: "warm: the server is shut down and started again before each batch, so that its cache is empty; "
    "the operating system keeps its copies of the files",
    Protocol.COLD: "cold: the server is shut down and started again before each batch, and meanwhile the operating "
    "system's copies of its files are dropped (posix_fadvise); a device's or hypervisor's own cache is beyond reach",
}
_ENDS = {
    GrowthEnd.TARGET: "the target volume",
    GrowthEnd.QUERY_TIME: "the stop rule on query time",
    GrowthEnd.IMPORT_RATE: "the stop rule on the import rate",
    GrowthEnd.DISK: "the stop rule on disk use",
    GrowthEnd.BUDGET: "the time budget",
    GrowthEnd.BROKEN_OFF: "the target was lost",
    GrowthEnd.INCOMPLETE: "it was not finished",
}
_DEFINITIONS = (
    Fact(
        label="Volume",
        value="the number of records in the collection after a step; sizes in bytes stand beside it.",
    ),
    Fact(
        label="Breakpoint",
        value="the volume at which a figure leaves the course it had before, by segmented regression of its "
        "logarithm, with the interval of the profile likelihood; none, where chance explains as much.",
    ),
    Fact(
        label="Time per query",
        value="the mean time of a query inside the server (opLatencies). For charts and breakpoints it is put "
        "in relation to batches beside it that read one record over and over, because the speed of a "
        "shared machine changes by more than a volume's effect; tables have the fastest batch as it was.",
    ),
    Fact(
        label="Import rate",
        value="documents per second of a step, as it was seen. Breakpoints are looked for in rates over at least a "
        "second of importing, neighbouring steps together where it takes several, and in relation to the same reads of "
        "one record before and after each step.",
    ),
    Fact(
        label="Coincides",
        value="a signal of the server that began within the breakpoint's interval, or a step beside it; "
        "undetermined, where none did.",
    ),
)


def growth_report(
    experiment: ExperimentRecord,
    trials: Sequence[GrowthTrial],
    conclusion: GrowthConclusion,
    settings: GrowthSettings,
) -> Report:
    """The report of a growth experiment."""
    sets, grids = conclusion.sets, growth_grids(conclusion.sets)
    sections = [
        Section(
            id="breakpoints",
            title="Where it breaks, and what else began there",
            short="Breakpoints",
            intro="A breakpoint is where a figure leaves its course over the volume by more than chance explains, and "
            "by at least 10 % at the last volume. What coincides is no proof of a cause.",
            blocks=[_breaks_table(sets)] if sets else [],
        ),
        Section(id="import", title="Import", short="Import", blocks=[import_chart(sets)] if sets else []),
        Section(id="queries", title="Queries", short="Queries", blocks=_query_blocks(sets, settings)),
        Section(id="disk", title="Disk", short="Disk", blocks=_disk_blocks(sets)),
    ]
    return experiment_report(
        experiment,
        kind="growth",
        kind_title="Growth",
        subtitle=message(
            "to {to} records in steps of {step} · {protocol} queries",
            to=format_count(settings.to_records),
            step=format_count(settings.step_records),
            protocol=settings.protocol.value,
        ),
        verdict=_verdict(conclusion, trials),
        sections=sections,
        data=growth_document(experiment, trials, conclusion, settings, grids),
        grids=grids,
        definitions=_DEFINITIONS,
    )


def _verdict(conclusion: GrowthConclusion, trials: Sequence[GrowthTrial]) -> Verdict:
    ended = Fact(label="Ended by", value=_ENDS[conclusion.ended_by])
    leading = conclusion.leading
    if leading is None:
        return Verdict(
            tone="warn",
            caption="Nothing was measured",
            figure="",
            unit="",
            interval="",
            sentence="No step was loaded to its end.",
            badges=[],
            facts=[ended],
        )
    growth, first = leading
    last = growth.volumes[-1]
    facts = [
        *(
            Fact(label="Import" if each.connections == 0 else "Queries", value=capitalised(conclusion.named(of, each)))
            for of, each in conclusion.others
        ),
        ended,
        Fact(label="Largest volume", value=message("{count} records", count=format_count(last.records))),
        Fact(label="Time", value=format_duration(sum(trial.took_s or 0.0 for trial in trials) * 1e9)),
        *(Fact(label="Stopped", value=capitalised(each.stopped)) for each in conclusion.sets if each.stopped),
    ]
    if first.result.found is None:
        few = first.result.too_few
        return Verdict(
            tone="warn" if few else "pass",
            caption="Too few volumes to look for a breakpoint" if few else "No breakpoint found",
            figure="",
            unit="",
            interval="",
            sentence=capitalised(conclusion.named(growth, first)),
            badges=[Badge(text="none found", tone="muted")],
            facts=facts,
        )
    position = first.result.found.position
    facts = [*_size_facts(growth, position.value), *facts]
    of_queries = first.connections > 0
    return Verdict(
        tone="pass",
        caption="Query breakpoint" if of_queries else "Import breakpoint",
        figure=position.value_text,
        unit="records",
        interval=position.interval_text,
        sentence=message(
            "From there on a query takes longer: {change} at the last volume. Coincides: {cause}."
            if of_queries
            else "From there on the import is slower: {change} at the last volume. Coincides: {cause}.",
            change=first.change_text,
            cause=first.cause_text,
        ),
        badges=[
            Badge(text=growth.indexes.value, tone="muted"),
            *([Badge(text=connections_text(first.connections), tone="muted")] if of_queries else []),
        ],
        facts=facts,
    )


def _size_facts(growth: IndexSetGrowth, records: float) -> list[Fact]:
    """How large the collection is there, beside the cache."""
    data_bytes, cache_bytes = growth.data_bytes_at(records), growth.cache_bytes
    if data_bytes is None or cache_bytes is None:
        return []
    sizes = message(
        "{size} of documents; the cache has {cache}",
        size=format_bytes(data_bytes),
        cache=format_bytes(cache_bytes),
    )
    return [Fact(label="Collection there", value=sizes)]


def _breaks_table(sets: Sequence[IndexSetGrowth]) -> Table:
    rows = [_break_row(each, found) for each in sets for found in (each.import_break, *each.query_breaks)]
    return Table(
        columns=[
            Column(label="What", numeric=False, leading=True),
            Column(label="Indexes", numeric=False),
            Column(label="Breakpoint", unit="records"),
            Column(label="Interval", numeric=False),
            Column(label="Chance", numeric=False, optional=True),
            Column(label="Last volume", numeric=False),
            Column(label="Coincides", numeric=False),
        ],
        rows=rows,
        caption=message(
            "Chance: how often values without a break would look as broken (permuted residuals), by Holm over all "
            "rows; a break is found below {alpha:g}.",
            alpha=ALPHA,
        ),
    )


def _break_row(growth: IndexSetGrowth, each: Breakpoint) -> list[Cell]:
    found = each.result.found
    head = [Cell(text=capitalised(each.name)), Cell(text=growth.indexes.value)]
    if found is None:
        few = "too few volumes" if each.connections else "too few stretches"
        what = few if each.result.too_few else "none found"
        chance = UNKNOWN_TEXT if each.result.too_few else format_number(each.adjusted_p)
        return [*head, Cell(text=what, tone="muted"), Cell(text=""), Cell(text=chance), Cell(text=""), Cell(text="")]
    return [
        *head,
        Cell(text=found.position.value_text),
        Cell(text=found.position.interval_text),
        Cell(text=format_number(each.adjusted_p)),
        Cell(text=each.change_text),
        Cell(text=each.cause_text),
    ]


def _query_blocks(sets: Sequence[IndexSetGrowth], settings: GrowthSettings) -> list[Block]:
    found: list[Block] = [Text(text=message("Protocol {protocol}.", protocol=_PROTOCOLS[settings.protocol]))]
    for each in sets:
        chart = query_chart(each)
        found += [chart] if chart is not None else []
        found.append(_query_table(each, settings))
    return found if sets else []


def _query_table(growth: IndexSetGrowth, settings: GrowthSettings) -> Table:
    connections, sizes = sorted(settings.connections), sorted(settings.queries)
    return Table(
        columns=[
            Column(label="Records", leading=True),
            *([Column(label="Queries", unit="per batch")] if len(sizes) > 1 else []),
            *(
                column
                for count in connections
                for column in (
                    Column(label="In the server", group=connections_text(count)),
                    Column(label="Client", group=connections_text(count)),
                )
            ),
            Column(label="Misses", unit="per query"),
            Column(label="Files in memory", optional=True),
        ],
        rows=[
            _query_row(volume, queries, connections, named=len(sizes) > 1)
            for volume in growth.volumes
            for queries in sizes
        ],
        caption=message(
            "The least disturbed repeat of a batch: in the server the mean of its quietest slices, at the client that "
            "of all; index set: {indexes}. Misses: pages read into the cache. "
            "Files in memory: their share in the operating system's, before a batch.",
            indexes=growth.indexes.value,
        ),
    )


def _query_row(volume: Volume, queries: int, connections: Sequence[int], *, named: bool) -> list[Cell]:
    times = [
        Cell(text=UNKNOWN_TEXT if time_ns is None else format_duration(time_ns))
        for count in connections
        for time_ns in (volume.time_ns(count, queries), volume.service_ns(count, queries))
    ]
    misses = volume.query_signal(connections[0], lambda each: each.cache_pages_read)
    seen = [each.figures for each in volume.queries if each.queries == queries]
    shares = [each.page_cache_share for each in seen if each.page_cache_share is not None]
    return [
        Cell(text=format_count(volume.records)),
        *([Cell(text=format_count(queries))] if named else []),
        *times,
        Cell(text=UNKNOWN_TEXT if misses is None else format_number(misses)),
        Cell(text=format_percentage(max(shares)) if shares else UNKNOWN_TEXT),
    ]


def _disk_blocks(sets: Sequence[IndexSetGrowth]) -> list[Block]:
    found: list[Block] = []
    for each in sets:
        chart = disk_chart(each)
        found += [chart] if chart is not None else []
        found.append(_load_table(each))
        steps = [step for volume in each.volumes for step in _work_of(volume) if step[1]]
        found += [distribution_table(steps)] if steps else []
    return found


def _work_of(volume: Volume) -> list[tuple[str, tuple[Shard, ...]]]:
    """What the servers did in the import that led to a volume, and in all its batches."""
    records = format_count(volume.records)
    queries = work_together([batch.figures.shards for batch in volume.queries])
    return [
        (message("import to {count}", count=records), volume.load.shards),
        (message("queries at {count}", count=records), queries),
    ]


def _load_table(growth: IndexSetGrowth) -> Table:
    return Table(
        columns=[
            Column(label="Records", leading=True),
            Column(label="Import"),
            Column(label="Step took"),
            Column(label="Control", optional=True),
            Column(label="Data"),
            Column(label="On disk"),
            Column(label="Indexes"),
            Column(label="Per document", unit="on disk, indexes too"),
            Column(label="All files", optional=True),
        ],
        rows=[_load_row(volume) for volume in growth.volumes],
        caption=message(
            "Each step, sizes after a checkpoint; index set: {indexes}. Control: a read of one record, before and "
            "after.",
            indexes=growth.indexes.value,
        ),
    )


def _load_row(volume: Volume) -> list[Cell]:
    load = volume.load
    both = None if load.storage_bytes is None or load.index_bytes is None else load.storage_bytes + load.index_bytes
    return [
        Cell(text=format_count(volume.records)),
        Cell(text=format_rate(load.documents_per_s, unit="documents/s")),
        Cell(text=format_duration(load.elapsed_s * 1e9)),
        Cell(text=UNKNOWN_TEXT if load.control_ns is None else format_duration(load.control_ns)),
        _bytes(load.data_bytes),
        _bytes(load.storage_bytes),
        _bytes(load.index_bytes),
        _bytes(None if both is None else both / volume.records),
        _bytes(load.files_bytes),
    ]


def _bytes(size: float | None) -> Cell:
    return Cell(text=UNKNOWN_TEXT if size is None else format_bytes(size))
