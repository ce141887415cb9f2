"""Owns asking an SQL server how it executes a statement, and reading what it says.

What only reads is executed for it, in a transaction that can't write and within a time, so that rows are counted and
not guessed. Sources: MariaDB's manual on ANALYZE and EXPLAIN, PostgreSQL's on EXPLAIN.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from brimline.servers.sql_client import SqlClient, SqlError

EXPLAINED: Final = frozenset({"select", "insert", "update", "delete", "replace"})
"""Kinds of statements that have a plan."""
_EXPLAIN: Final = "EXPLAIN FORMAT=TRADITIONAL"
"""A table, as MariaDB's own; MySQL's default is a tree since 9.5."""
_LIMIT_S: Final = 10
"""A read that takes longer is not executed to see what it takes."""
_NO_TABLE: Final = ("", "NULL", "None")
_NOT_READ: Final = ("INSERT", "REPLACE")
_SORTS: Final = ("Sort", "Incremental Sort")
_GROUPS: Final = ("Aggregate", "Group")


def explained(client: SqlClient, protocol: str, text: str, parameters: Sequence[Any]) -> dict[str, Any]:
    """What `record.plans.StepPlan` has of a statement. Raises SqlError where it can't be explained, ConnectionLost."""
    explain = _of_mysql if protocol == "mysql" else _of_postgres
    if text.split(maxsplit=1)[0].lower() in ("select", "with"):
        with suppress(SqlError):  # it takes too long, or writes after all
            return explain(client, text, parameters, executed=True)
    return explain(client, text, parameters, executed=False)


def tried(client: SqlClient, protocol: str, text: str, parameters: Sequence[Any]) -> None:
    """Has the server look at a statement without executing it. Raises SqlError where it refuses, ConnectionLost."""
    if protocol == "mysql":
        prepared_rows(client, f"{_EXPLAIN} {text}", parameters)
    else:
        _of_postgres(client, text, parameters, executed=False)


def _of_mysql(client: SqlClient, text: str, parameters: Sequence[Any], *, executed: bool) -> dict[str, Any]:
    if not executed:
        return read_mysql(prepared_rows(client, f"{_EXPLAIN} {text}", parameters))
    client.change("START TRANSACTION READ ONLY")
    try:
        limit = f"SET STATEMENT max_statement_time={_LIMIT_S} FOR "
        with suppress(SqlError):
            return read_mysql(prepared_rows(client, f"{limit}ANALYZE {text}", parameters))
        return read_mysql(prepared_rows(client, f"ANALYZE {text}", parameters))
    finally:
        client.change("ROLLBACK")


def prepared_rows(client: SqlClient, text: str, parameters: Sequence[Any]) -> list[dict[str, Any]]:
    """The rows of a statement in MySQL's dialect whose parameters are `?`. Raises SqlError and ConnectionLost."""
    client.change("PREPARE brimline FROM %s", text)
    try:
        names = [f"@brimline_{place}" for place in range(len(parameters))]
        for name, value in zip(names, parameters, strict=True):
            client.change(f"SET {name} = %s", value)
        return client.named_rows(f"EXECUTE brimline{' USING ' + ', '.join(names) if names else ''}")
    finally:
        client.change("DEALLOCATE PREPARE brimline")


def read_mysql(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the table of EXPLAIN or ANALYZE says. `r_rows`, where it is there, was counted, for each time of a join."""
    tables = [
        row for row in rows if str(row.get("table")) not in _NO_TABLE and str(row.get("select_type")) not in _NOT_READ
    ]
    extra = " ".join(str(row.get("extra") or "") for row in rows)
    kinds = [str(row.get("type")) for row in tables]
    examined = [float(row["r_rows"]) for row in tables if row.get("r_rows") is not None]
    indexes = [str(row["key"]) for row in tables if row.get("key")]
    return {
        "plan_summary": ", ".join(_step_of_mysql(row) for row in tables) or extra.strip() or None,
        "index_names": list(dict.fromkeys(indexes)),
        "stage_names": list(dict.fromkeys(kinds)),
        "keys_examined": None,
        "docs_examined": round(examined[0]) if len(examined) == len(tables) == 1 else None,
        "n_returned": None,
        "in_memory_sort": "filesort" in extra,
        # What is sorted in a table that the server made for it was grouped or joined first.
        "index_could_sort": "temporary" not in extra if "filesort" in extra else None,
        "sort_used_disk": None,
        "collection_scan": any(kind == "ALL" for kind in kinds),
    }


def _step_of_mysql(row: Mapping[str, Any]) -> str:
    by = f" {row['key']}" if row.get("key") else ""
    return f"{row['table']} {row['type']}{by}"


def _of_postgres(client: SqlClient, text: str, parameters: Sequence[Any], *, executed: bool) -> dict[str, Any]:
    options = "ANALYZE, TIMING OFF, FORMAT JSON" if executed else "FORMAT JSON"
    client.change("BEGIN READ ONLY" if executed else "BEGIN")
    try:
        client.change(f"SET LOCAL statement_timeout = '{_LIMIT_S}s'")
        answer = client.rows(f"EXPLAIN ({options}) {text}", *parameters)[0][0]
    finally:
        client.change("ROLLBACK")
    return read_postgres(json.loads(answer) if isinstance(answer, str) else answer)


def read_postgres(answer: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What EXPLAIN's JSON says. Actual rows, where they are there, were counted."""
    nodes = list(_nodes(answer[0]["Plan"]))
    scans = [node for node in nodes if "Scan" in str(node["Node Type"]) and "Relation Name" in node]
    kinds = [str(node["Node Type"]) for node in nodes]
    counted = [_examined(node) for node in scans if "Actual Rows" in node]
    by_index = [_examined(node) for node in nodes if "Index Name" in node and "Actual Rows" in node]
    top = answer[0]["Plan"]
    sorts = [node for node in nodes if node["Node Type"] in _SORTS]
    spaces = [node.get("Sort Space Type") for node in sorts]
    return {
        "plan_summary": ", ".join(map(_step_of_postgres, [node for node in nodes if _reads(node)])) or kinds[0],
        "index_names": list(dict.fromkeys(str(node["Index Name"]) for node in nodes if "Index Name" in node)),
        "stage_names": list(dict.fromkeys(kinds)),
        "keys_examined": sum(by_index) if by_index else None,
        "docs_examined": sum(counted) if counted else None,
        "n_returned": round(top["Actual Rows"]) if "Actual Rows" in top else None,
        "in_memory_sort": bool(sorts),
        "index_could_sort": any(not _is_grouped(node) for node in sorts) if sorts else None,
        "sort_used_disk": "Disk" in spaces if any(spaces) else None,
        "collection_scan": any(kind == "Seq Scan" for kind in kinds),
    }


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _nodes(each)


def _is_grouped(sort: Mapping[str, Any]) -> bool:
    """Whether what it sorts was grouped before, so that no index has it in order."""
    return any(node["Node Type"] in _GROUPS for node in _nodes(sort))


def _reads(node: Mapping[str, Any]) -> bool:
    return "Scan" in str(node["Node Type"])


def _step_of_postgres(node: Mapping[str, Any]) -> str:
    names = [node.get("Relation Name"), node["Node Type"], node.get("Index Name")]
    return " ".join(str(name) for name in names if name)


def _examined(node: Mapping[str, Any]) -> int:
    removed = sum(float(node.get(name, 0)) for name in ("Rows Removed by Filter", "Rows Removed by Index Recheck"))
    return round((float(node["Actual Rows"]) + removed) * float(node.get("Actual Loops", 1)))
