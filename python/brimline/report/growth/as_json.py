"""Everything that the report of a growth experiment says, for machines: stable keys, units last."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from brimline.analysis.growth.breakpoints import Breakpoint, Volume
from brimline.experiments.growth.conclusion import GrowthConclusion, IndexSetGrowth
from brimline.experiments.growth.order import GrowthSettings, GrowthTrial
from brimline.record.experiment import ExperimentRecord
from brimline.report.document import FORMAT_VERSION
from brimline.report.grid import Grid
from brimline.report.run.as_json import interval_document
from brimline.report.run_nodes import nodes_document, nodes_in
from brimline.report.showing import figures_document


def growth_document(
    experiment: ExperimentRecord,
    trials: Sequence[GrowthTrial],
    conclusion: GrowthConclusion,
    settings: GrowthSettings,
    grids: Sequence[Grid] = (),
) -> dict[str, Any]:
    """The JSON of a growth experiment."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "growth",
        "name": experiment.name,
        "record": str(experiment.directory),
        "brimline_version": experiment.brimline_version,
        "ended_by": experiment.ended_by,
        "message": experiment.message,
        "growth_ended_by": conclusion.ended_by.value,
        "text": str(conclusion.text),
        "settings": {**asdict(settings), "indexes": [each.value for each in settings.indexes]},
        "index_sets": [_set_document(each) for each in conclusion.sets],
        "nodes": nodes_document(nodes_in(experiment)),
        "figures": figures_document(grids),
        "trial_count": len(trials),
    }


def _set_document(growth: IndexSetGrowth) -> dict[str, Any]:
    return {
        "indexes": growth.indexes.value,
        "stopped": str(growth.stopped),
        "import_breakpoint": _break_document(growth.import_break, growth),
        "query_breakpoints": [_break_document(each, growth) for each in growth.query_breaks],
        "cache_holds_records": growth.cache_holds_records,
        "cache_bytes": growth.cache_bytes,
        "volumes": [_volume_document(each) for each in growth.volumes],
    }


def _break_document(each: Breakpoint, growth: IndexSetGrowth) -> dict[str, Any]:
    found = each.result.found
    return {
        "connections": each.connections or None,
        "found": each.found,
        "too_few_volumes": each.result.too_few,
        "p_value": each.result.p_value,
        "adjusted_p": None if each.result.too_few else each.adjusted_p,
        "position_records": None if found is None else found.position.value,
        "position_bytes": None if found is None else growth.data_bytes_at(found.position.value),
        "interval_records": None if found is None else interval_document(found.position),
        "course": None if found is None else found.course.value,
        "ratio_at_last_volume": None if found is None else found.ratio,
        "causes": [
            {"name": cause.name, "from_records": cause.from_records, "to_records": cause.to_records}
            for cause in each.causes
        ],
        "volumes_records": list(each.volumes),
        "values": list(each.values),
        "fitted": list(each.result.fitted),
    }


def _volume_document(volume: Volume) -> dict[str, Any]:
    return {
        "records": volume.records,
        "load": {**asdict(volume.load), "documents_per_s": volume.load.documents_per_s},
        "queries": [
            {"connections": each.connections, "queries_asked": each.queries, **asdict(each.figures)}
            for each in volume.queries
        ],
    }
