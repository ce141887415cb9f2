"""Owns the table of MongoDB's step kinds: what each says, reads and writes, and the command that it becomes.

A new kind is an entry of `KINDS`, and a function where its command has a form of its own.
"""

from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own import options as read
from brimline.spec.own.expressions import Scope
from brimline.spec.own.nodes import Node, constant, document
from brimline.spec.own.options import Option
from brimline.spec.own.problems import Problem
from brimline.spec.own.step_kind import COMMON, WRITE_CONCERN, Given, StepKind
from brimline.spec.readers import BATCH_SIZE_MAX, shown

COMMIT_OPTIONS: Final = (*WRITE_CONCERN, *COMMON)
"""What the commit of a transaction may carry."""
_FILTER = Option("filter", "filter", read.a_filter, "Which documents.")
_QUERY = Option("filter", "query", read.a_filter, "Which documents.")
_SORT = Option("sort", "sort", read.a_document, "Their order, such as {created: -1}.")
_SKIP = Option("skip", "skip", read.count_from(0), "How many to pass over.")
_LIMIT = Option("limit", "limit", read.count_from(0), "How many at most.")
_HINT = Option("hint", "hint", read.a_hint, "The index to use: its keys or its name.")
_COLLATION = Option("collation", "collation", read.a_document, "How text is compared, such as {locale: zh}.")
_LET = Option("let", "let", read.a_document, "Variables for expressions, such as {city: $city}.")
_UPSERT = Option("upsert", "upsert", read.a_flag, "Whether a document that isn't there is inserted.")
_ARRAY_FILTERS = Option("array_filters", "arrayFilters", read.a_list, "Which elements `$[name]` means.")
_UPDATE = Option("update", "u", read.an_update, "Operators such as {$set: …}, or a pipeline.")
_REPLACEMENT = Option("replacement", "u", read.a_replacement, "The whole document.")
_BYPASS = Option(
    "bypass_document_validation", "bypassDocumentValidation", read.a_flag, "Whether validators are passed by."
)
ORDERED = Option("ordered", "ordered", read.a_flag, "Whether what follows a failed document is left out.")


def _batch_size(value: Any, path: Path, scope: Scope) -> Node:
    node = read.count_from(1)(value, path, scope)
    if not node.is_constant:
        raise Problem(path, "is the same for every operation", f"write {path[-1]}: 100")
    return node


def _cursor(value: Any, path: Path, scope: Scope) -> Node:
    return document([("batchSize", _batch_size(value, path, scope))])


def _multi(value: Any, path: Path, scope: Scope) -> Node:  # noqa: ARG001
    return constant(read.flag(value, path))


def _limit_of_delete(value: Any, path: Path, scope: Scope) -> Node:  # noqa: ARG001
    return constant(0 if read.flag(value, path) else 1)


def _must_be_true(value: Any, path: Path, scope: Scope) -> Node:  # noqa: ARG001
    if read.flag(value, path) is False:
        raise Problem(path, f"{path[-1]}: false says nothing", f"leave {path[-1]} out")
    return constant(True)


def _field_name(value: Any, path: Path, scope: Scope) -> Node:
    if not isinstance(value, str) or not value:
        raise Problem(path, f"must name a field, not {shown(value)}", "write field: city")
    return read.a_text(value, path, scope)


def _has_writing_stage(raw: dict[str, Any]) -> bool:
    pipeline = raw.get("pipeline")
    return isinstance(pipeline, list) and any(
        isinstance(stage, dict) and not read.WRITING_STAGES.isdisjoint(stage) for stage in pipeline
    )


def _statement(kind: StepKind, given: Given) -> list[Node]:
    """The one statement of an update or delete."""
    fields = [
        (option.field, given.nodes[option.name]) for option in kind.statement_options if option.name in given.nodes
    ]
    names = [name for name, _ in fields]
    if kind.command == "delete" and "limit" not in names:
        fields.insert(1, ("limit", constant(1)))
    if kind.command == "update" and given.raw.get("many") and "replacement" in given.nodes:
        raise Problem((*given.path, "many"), "one document can't replace many", "leave many out")
    return [document(fields)]


def _documents(kind: StepKind, given: Given) -> list[Node]:  # noqa: ARG001
    """The documents of an insert."""
    if "document" in given.raw:
        return [inserted(given.raw["document"], (*given.path, "document"), given.scope)]
    path, documents = (*given.path, "documents"), given.raw["documents"]
    if not isinstance(documents, list) or not documents:
        hint = "write documents: [{…}, {…}], or document with count"
        raise Problem(path, "must be a list of documents", hint)
    if len(documents) > BATCH_SIZE_MAX:
        raise Problem(path, f"has {len(documents)} documents, and a command at most {BATCH_SIZE_MAX}", "insert fewer")
    return [inserted(each, (*path, number), given.scope) for number, each in enumerate(documents)]


def inserted(value: Any, path: Path, scope: Scope) -> Node:
    """A document to insert; one without `_id` gets one of this run."""
    if isinstance(value, dict):
        for name in value:
            if name.startswith("$") and name != "$value":
                raise Problem((*path, name), f"{shown(name)} can't begin a field's name", "write the document's fields")
        if "_id" not in value and "$value" not in value:
            value = {"_id": "$new_id", **value}
    return read.a_document(value, path, scope)


KINDS: Final[dict[str, StepKind]] = {
    kind.name: kind
    for kind in (
        StepKind(
            "find",
            "Documents by a filter; the cursor is drained.",
            command="find",
            access="read",
            counter="query",
            has_cursor=True,
            options=(
                _FILTER,
                Option("projection", "projection", read.a_document, "Which fields, such as {total: 1}."),
                _SORT,
                _SKIP,
                _LIMIT,
                _HINT,
                _COLLATION,
                Option("batch_size", "batchSize", _batch_size, "Documents of one reply."),
                _LET,
                Option("allow_disk_use", "allowDiskUse", read.a_flag, "Whether a sort may use the disk."),
                Option("single_batch", "singleBatch", read.a_flag, "Whether the first reply is the last."),
            ),
        ),
        StepKind(
            "aggregate",
            "Stages over a collection; the cursor is drained.",
            command="aggregate",
            access="read",
            counter="command",
            has_cursor=True,
            required=("pipeline",),
            options=(
                Option("pipeline", "pipeline", read.a_pipeline, "Stages such as [{$match: …}, {$group: …}]."),
                Option("batch_size", "cursor", _cursor, "Documents of one reply."),
                _HINT,
                _COLLATION,
                _LET,
                Option("allow_disk_use", "allowDiskUse", read.a_flag, "Whether stages may use the disk."),
                _BYPASS,
            ),
            writes=_has_writing_stage,
        ),
        StepKind(
            "count",
            "How many documents there are.",
            command="count",
            access="read",
            counter="command",
            counted="counted",
            options=(_QUERY, _SKIP, _LIMIT, _HINT, _COLLATION),
        ),
        StepKind(
            "distinct",
            "Which values a field has.",
            command="distinct",
            access="read",
            counter="command",
            required=("field",),
            options=(Option("field", "key", _field_name, "The field."), _QUERY, _COLLATION),
        ),
        StepKind(
            "insert",
            "New documents; one without `_id` gets an ObjectId of this run.",
            command="insert",
            access="write",
            counter="insert",
            one_of=(("document", "documents"),),
            made_from={
                "document": "The document.",
                "documents": "Several documents, in one command.",
                "count": "How often `document` is made, each time with new values, in one command.",
            },
            statements="documents",
            make=_documents,
            counted="inserted",
            options=(ORDERED, _BYPASS),
        ),
        StepKind(
            "update",
            "Operators on one document, or with `many` on all that match.",
            command="update",
            access="write",
            counter="update",
            required=("filter", "update"),
            statements="updates",
            make=_statement,
            counted="matched",
            counts_modified=True,
            statement_options=(
                Option("filter", "q", read.a_filter, "Which documents."),
                _UPDATE,
                Option("many", "multi", _multi, "Whether all that match are updated."),
                _UPSERT,
                _ARRAY_FILTERS,
                _HINT,
                _COLLATION,
            ),
            options=(_LET, _BYPASS),
        ),
        StepKind(
            "replace",
            "A whole document in place of one that matches.",
            command="update",
            access="write",
            counter="update",
            required=("filter", "replacement"),
            statements="updates",
            make=_statement,
            counted="matched",
            counts_modified=True,
            statement_options=(
                Option("filter", "q", read.a_filter, "Which document."),
                _REPLACEMENT,
                _UPSERT,
                _HINT,
                _COLLATION,
            ),
            options=(_LET, _BYPASS),
        ),
        StepKind(
            "delete",
            "One document that matches, or with `many` all.",
            command="delete",
            access="write",
            counter="delete",
            required=("filter",),
            statements="deletes",
            make=_statement,
            counted="deleted",
            statement_options=(
                Option("filter", "q", read.a_filter, "Which documents."),
                Option("many", "limit", _limit_of_delete, "Whether all that match are deleted."),
                _HINT,
                _COLLATION,
            ),
            options=(_LET,),
        ),
        StepKind(
            "find_and_modify",
            "Updates, replaces or removes one document and brings it.",
            command="findAndModify",
            access="write",
            counter="command",
            required=("filter",),
            one_of=(("update", "replacement", "remove"),),
            document_at=("value",),
            options=(
                _QUERY,
                _SORT,
                Option("update", "update", read.an_update, "Operators such as {$set: …}, or a pipeline."),
                Option("replacement", "update", read.a_replacement, "The whole document."),
                Option("remove", "remove", _must_be_true, "True: the document is removed."),
                Option("new", "new", read.a_flag, "Whether the document comes as it is afterwards."),
                Option("projection", "fields", read.a_document, "Which fields, such as {total: 1}."),
                _UPSERT,
                _ARRAY_FILTERS,
                _HINT,
                _COLLATION,
                _LET,
                _BYPASS,
            ),
        ),
    )
}
"""Kinds that are one command on one collection."""

BULK_KINDS: Final = ("insert", "update", "replace", "delete")
OTHER_KINDS: Final = {
    "bulk_write": "Inserts, updates, replaces and deletes in order, one command for each row of equal kinds.",
    "command": "Any command, as MongoDB has it.",
    "transaction": "Steps that are committed together.",
}
"""Kinds that are no entry of `KINDS`: several commands, or any."""

SYNONYMS: Final = {
    "findone": 'write "find" with limit: 1',
    "insertone": 'write "insert" with document',
    "insertmany": 'write "insert" with documents',
    "updateone": 'write "update"',
    "updatemany": 'write "update" with many: true',
    "replaceone": 'write "replace"',
    "deleteone": 'write "delete"',
    "deletemany": 'write "delete" with many: true',
    "findoneandupdate": 'write "find_and_modify" with update',
    "findoneandreplace": 'write "find_and_modify" with replacement',
    "findoneanddelete": 'write "find_and_modify" with remove: true',
    "countdocuments": 'write "count"',
    "read": 'write "find"',
    "runcommand": 'write "command"',
    "pipeline": 'write "aggregate" with pipeline',
    "sleep": 'write "think_time"',
    "wait": 'write "think_time"',
}
"""What other tools call the kinds, in small letters without _, with what to write."""
