"""Owns what several nodes did of one import: each one's part, and whether the parts add up to the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.nodes import CHECK
from brimline.record.data_import import ImportNode, ImportNodeRow, ImportRecord, documents_in
from brimline.units import NS_PER_S, format_count
from brimline.wording import joined, message


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNodeFigures:
    """One node over the whole import. `documents` and `rejected` are of its part, whoever of the attempts brought them.

    The rate is of documents per second while it was at work; `input_bytes` are decompressed. `service_p99_ns` is of the
    last attempt, 0 without a command. `sent_bytes`: what of the inputs was sent to it. `lost`: why it is lost; None: it
    is not.
    """

    node: int
    host: str
    connections: int
    documents: int
    rejected: int
    documents_per_s: float
    input_bytes: int
    sent_bytes: int
    client_cpu_ns: int
    service_p99_ns: int
    late_ns: int
    clock: Mapping[str, Any]
    lost: str | None


def import_node_figures(record: ImportRecord) -> list[ImportNodeFigures]:
    """Of each node of an import that several shared, in the order of their parts; none where one client imported."""
    return [
        _figures(node, [row for row in record.node_rows if row.node == node["node"]]) for node in record.state.nodes
    ]


def _figures(node: ImportNode, rows: Sequence[ImportNodeRow]) -> ImportNodeFigures:
    at_work_ns = sum(row.end_ns - row.start_ns for row in rows)
    return ImportNodeFigures(
        node=node["node"],
        host=node["host"],
        connections=node["connections"],
        documents=documents_in(node["counts"]),
        rejected=node["counts"].get("rejected", 0),
        documents_per_s=sum(row.documents for row in rows) / max(at_work_ns, 1) * NS_PER_S,
        input_bytes=sum(row.input_bytes for row in rows),
        sent_bytes=node["sent_bytes"],
        client_cpu_ns=sum(row.process_cpu_ns for row in rows),
        service_p99_ns=node["service_p99_ns"],
        late_ns=node["late_ns"],
        clock=node["clock"],
        lost=node["lost"],
    )


def import_node_findings(record: ImportRecord) -> list[Finding]:
    """No node was lost, and what they imported adds up; nothing to say where one client imported."""
    found = import_node_figures(record)
    if not found:
        return []
    if lost := [node for node in found if node.lost is not None]:
        names = joined(", ", [f"{node.node} ({node.host})" for node in lost])
        return [Finding(CHECK, Standing.FAIL, message("lost: {nodes}; what the others imported is kept", nodes=names))]
    documents = documents_in(record.state.counts)
    answered = sum(row.documents for row in record.node_rows)
    values = {
        "count": format_count(len(found)),
        "parts": joined(" + ", [format_count(node.documents) for node in found]),
        "documents": format_count(documents),
        "answered": format_count(answered),
    }
    adds_up = sum(node.documents for node in found) == documents
    # What was sent before an interruption is answered once more where it can't be looked for.
    if adds_up and (answered == documents or record.state.attempts > 1 or record.ended_by != "completed"):
        return [Finding(CHECK, Standing.PASS, message("{count} nodes: {parts} = {documents} documents", **values))]
    text = message("not so: {parts} = {documents} documents, of which the nodes' rows have {answered}", **values)
    return [Finding(CHECK, Standing.FAIL, text)]
