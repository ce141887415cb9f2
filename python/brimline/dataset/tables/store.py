"""Owns the database that tables are in: what the two kinds of servers say otherwise, and manifests beside the tables.

The manifests are rows of the table `brimline_manifest`: the name of a table, and a JSON document, the same as MongoDB's
collections have with what the table is made by.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from brimline.dataset.manifest import MANIFEST_COLLECTION, Manifest
from brimline.plan.columns import Dialect
from brimline.plan.tables import SqlTable, quoted
from brimline.servers.sql_client import SqlClient, sql_errors

_MARK: Final = "brimline "
"""What the comment of a table begins with that brimline made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDialect:
    """What the kinds of servers say otherwise. A text that has a parameter has it at `%s` or `$1`.

    `beside`: what each kind of thing is called, and the names of those that a table has besides its primary key.
    """

    name: Dialect
    tables: str
    identity: str
    indexes: str
    beside: Sequence[str]
    make_manifests: str
    write_manifest: str
    copy: tuple[str, str]
    parameter: str
    analyze: str

    def marked(self, create: str) -> str:
        """The statement that makes a table, with a mark of its own where the server tells tables apart too coarsely."""
        return f"{create} COMMENT='{_MARK}{secrets.token_hex(8)}'" if self.name == "mysql" else create

    def parameters(self, count: int) -> str:
        """So many of them in a row."""
        return ", ".join("%s" if self.name == "mysql" else f"${place + 1}" for place in range(count))


_MYSQL: Final = TableDialect(
    name="mysql",
    tables="SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %s",
    # The time is in whole seconds: the mark tells a table from another that was made in the same one.
    identity=(
        f"SELECT NULLIF(CONCAT_WS(' ', create_time, IF(LEFT(table_comment, {len(_MARK)}) = '{_MARK}', "  # noqa: S608
        "table_comment, NULL)), '') "
        "FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %s"
    ),
    indexes=(
        "SELECT index_name FROM information_schema.statistics "
        "WHERE table_schema = DATABASE() AND table_name = %s AND index_name <> 'PRIMARY'"
    ),
    beside=(
        "SELECT DISTINCT 'index', index_name FROM information_schema.statistics "
        "WHERE table_schema = DATABASE() AND table_name = %s AND index_name <> 'PRIMARY'",
        "SELECT 'column', column_name FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name = %s",
        "SELECT 'trigger', trigger_name FROM information_schema.triggers "
        "WHERE event_object_schema = DATABASE() AND event_object_table = %s",
        "SELECT 'foreign key', constraint_name FROM information_schema.referential_constraints "
        "WHERE constraint_schema = DATABASE() AND %s IN (table_name, referenced_table_name)",
    ),
    make_manifests=(
        f"CREATE TABLE IF NOT EXISTS {MANIFEST_COLLECTION} (name VARCHAR(64) COLLATE utf8mb4_bin PRIMARY KEY, "
        "document LONGTEXT NOT NULL) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4"
    ),
    write_manifest=f"REPLACE INTO {MANIFEST_COLLECTION} (name, document) VALUES (%s, %s)",  # noqa: S608 - its name is ours
    copy=("CREATE TABLE {copy} LIKE {table}", "INSERT INTO {copy} SELECT * FROM {table}"),
    parameter="%s",
    analyze="ANALYZE TABLE {table}",
)
_POSTGRES: Final = TableDialect(
    name="postgres",
    tables="SELECT relname FROM pg_class WHERE oid = to_regclass(quote_ident($1))",
    identity="SELECT to_regclass(quote_ident($1))::oid",
    indexes="SELECT 1 FROM pg_index WHERE indrelid = to_regclass(quote_ident($1)) AND NOT indisprimary",
    beside=(
        "SELECT 'index', relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
        "WHERE indrelid = to_regclass(quote_ident($1)) AND NOT indisprimary",
        "SELECT 'column', attname FROM pg_attribute "
        "WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped",
        "SELECT 'trigger', tgname FROM pg_trigger WHERE tgrelid = to_regclass(quote_ident($1)) AND NOT tgisinternal",
        "SELECT 'foreign key', conname FROM pg_constraint "
        "WHERE contype = 'f' AND to_regclass(quote_ident($1)) IN (conrelid, confrelid)",
    ),
    make_manifests=(
        f"CREATE TABLE IF NOT EXISTS {MANIFEST_COLLECTION} (name TEXT PRIMARY KEY, document TEXT NOT NULL)"
    ),
    write_manifest=(
        f"INSERT INTO {MANIFEST_COLLECTION} (name, document) VALUES ($1, $2) "  # noqa: S608 - as above
        "ON CONFLICT (name) DO UPDATE SET document = excluded.document"
    ),
    copy=("CREATE TABLE {copy} (LIKE {table})", "INSERT INTO {copy} SELECT * FROM {table}"),
    parameter="$1",
    analyze="ANALYZE {table}",
)
DIALECTS: Final[Mapping[str, TableDialect]] = {"mysql": _MYSQL, "postgres": _POSTGRES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A manifest as it was found. `statements`: what the table was made by."""

    manifest: Manifest
    statements: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One database through one connection. Everything raises TargetError."""

    client: SqlClient
    dialect: TableDialect
    database: str

    def exists(self, table: str) -> bool:
        """Whether there is a table of that name."""
        return bool(self.rows("looking for the table", self.dialect.tables, table))

    def count(self, table: str) -> int:
        """Its rows, counted one by one."""
        return int(self.rows("counting the rows", f"SELECT COUNT(*) FROM {self.quoted(table)}")[0][0])  # noqa: S608

    def identity(self, table: str) -> str | None:
        """What tells a table from another of the same name; None where the server doesn't say."""
        found = self.rows("looking for the table", self.dialect.identity, table)
        return str(found[0][0]) if found and found[0][0] is not None else None

    def is_indexed(self, table: str) -> bool:
        """Whether it has an index besides its primary key."""
        return bool(self.rows("looking for indexes", self.dialect.indexes, table))

    def beside(self, table: str) -> list[tuple[str, str]]:
        """What it has: the kind and the name of each index but that of its key, column, trigger and foreign key."""
        return [
            (str(row[0]), str(row[1]))
            for text in self.dialect.beside
            for row in self.rows("looking what the table has", text, table)
        ]

    def quoted(self, table: str) -> str:
        """A name as statements have it."""
        return quoted(table, self.dialect.name)

    def read_manifest(self, table: str) -> Stored | None:
        """That of a table; None where it has none that can be read."""
        if not self.exists(MANIFEST_COLLECTION):
            return None
        found = self.rows(
            "reading the manifest",
            f"SELECT document FROM {MANIFEST_COLLECTION} WHERE name = {self.dialect.parameter}",  # noqa: S608
            table,
        )
        try:
            document = json.loads(found[0][0])
            manifest = Manifest.from_document(document["manifest"])
            statements = [str(each) for each in document["statements"]]
        except (LookupError, TypeError, ValueError):
            return None
        return None if manifest is None else Stored(manifest=manifest, statements=statements)

    def write_manifest(self, manifest: Manifest, statements: Sequence[str]) -> None:
        """Stores it in place of an older one."""
        document = json.dumps({"manifest": manifest.to_document(), "statements": list(statements)}, ensure_ascii=False)
        with sql_errors("writing the manifest"):
            self.client.change(self.dialect.make_manifests)
            self.client.change(self.dialect.write_manifest, manifest.collection, document)

    def take_manifest_back(self, table: str, before: Stored | None) -> None:
        """Makes the manifest of a table what was read before another one was written."""
        if before is not None:
            self.write_manifest(before.manifest, before.statements)
            return
        where = f"WHERE name = {self.dialect.parameter}"
        self.change("writing the manifest", f"DELETE FROM {MANIFEST_COLLECTION} {where}", table)  # noqa: S608

    def rows(self, doing: str, text: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        with sql_errors(doing):
            return self.client.rows(text, *parameters)

    def named_rows(self, doing: str, text: str) -> list[dict[str, Any]]:
        """The same by the names of their columns, in lower case."""
        with sql_errors(doing):
            return self.client.named_rows(text)

    def change(self, doing: str, text: str, *parameters: Any) -> int:
        """Executes a statement; how many rows it was about."""
        with sql_errors(doing):
            return self.client.change(text, *parameters)


def statements_of(table: SqlTable) -> list[str]:
    """What a table is made by, in order: by it one is told from a table of the same name."""
    return [table.create, *table.after_load]
