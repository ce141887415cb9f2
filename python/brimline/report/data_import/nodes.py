"""The section that shows the nodes of an import that several shared."""

from dataclasses import asdict
from typing import Any

from brimline.analysis.import_nodes import ImportNodeFigures, import_node_figures
from brimline.record.data_import import ImportRecord
from brimline.report.node_section import named, node_section
from brimline.report.view import Cell, Section
from brimline.units import UNKNOWN_TEXT, format_bytes, format_count, format_duration, format_number
from brimline.wording import message

_LABELS = (
    *("Documents", "Rejected", "Documents/s", "Read", "Sent to it", "Client CPU", "Command p99", "Connections"),
    "Began late by",
)


def nodes_section(record: ImportRecord) -> Section:
    """One row a node; no blocks of an import that one client made alone."""
    found = import_node_figures(record)
    caption = message(
        "{count} nodes in all, in the order of their parts of the input. A node is sent its part where it has not the "
        "very file.",
        count=format_count(len(found)),
    )
    if record.state.shares is not None and (reading_ns := record.state.shares.reading_ns) is not None:
        caption = message(
            "{nodes} Before the import the command read the files once, for the borders of the parts: {length}, which "
            "no rate has in it.",
            nodes=caption,
            length=format_duration(reading_ns),
        )
    return node_section(_LABELS, [_row(node) for node in found], caption)


def _row(node: ImportNodeFigures) -> list[Cell]:
    return [
        named(node.node, node.host, node.lost),
        Cell(text=format_count(node.documents)),
        Cell(text=format_count(node.rejected), tone="fail" if node.rejected else ""),
        Cell(text=format_number(node.documents_per_s, digits=4)),
        Cell(text=format_bytes(node.input_bytes)),
        Cell(text=format_bytes(node.sent_bytes) if node.sent_bytes else "—"),
        Cell(text=format_duration(node.client_cpu_ns)),
        Cell(text=format_duration(node.service_p99_ns) if node.service_p99_ns else UNKNOWN_TEXT),
        Cell(text=format_count(node.connections)),
        Cell(text=format_duration(node.late_ns)),
    ]


def nodes_document(record: ImportRecord) -> list[dict[str, Any]]:
    """The same for machines; empty of an import that one client made alone."""
    return [asdict(node) for node in import_node_figures(record)]
