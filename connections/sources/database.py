"""The database connector: each table of a discovered schema, with its columns.

It reads the stored snapshot and no server: what is hidden is in no record, and masked
columns have no values in any text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar
from uuid import UUID

from connections.databases.base import Column, ForeignKey, Schema, Table
from connections.databases.described import (
    column_text,
    path_key,
    spoken,
    table_text,
)
from connections.databases.snapshot import schema_of
from connections.models import Database
from connections.records import (
    AudienceDraft,
    EdgeDraft,
    Failure,
    NodeDraft,
    Record,
    clean_key,
    node_type,
    relation,
)
from connections.sources.base import Pull, SourceError, connectors

KIND = "database"

node_type("db_table", "A table or view of a connected database.", "table")
node_type("db_column", "A column of a table of a connected database.", "view_column")
relation(
    "column_of",
    "db_column",
    "db_table",
    "The table it is a column of.",
    "the column total column_of the table orders",
)
relation(
    "references",
    "db_table|db_column",
    "db_table|db_column",
    "The table or column that its foreign key names rows of.",
    "orders.customer_id references customers.id",
)


@connectors.register(KIND)
class DatabaseConnector:
    """Reads the snapshot of the database whose id is the source's location."""

    kind: ClassVar[str] = KIND
    label: ClassVar[str] = "Schema of a database"
    source_kind: ClassVar[str] = KIND
    complete: ClassVar[bool] = True
    # A catalogue that was read is whole: what is not in it was dropped on purpose.
    certain: ClassVar[bool] = True
    personal: ClassVar[bool] = False

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        """Return a record for each table that may be seen."""
        database = _database(str(request.location))
        yield from records(
            database.name,
            schema_of(database),
            request.audience_or(),
            title=str(database),
        )


def _database(location: str) -> Database:
    try:
        return Database.objects.get(pk=UUID(location))
    except (ValueError, Database.DoesNotExist) as error:
        raise SourceError(
            f"{location} is no connected database; databases are discovered, with "
            "`manage.py discover`, and not ingested."
        ) from error


def table_key(connection: str, schema: str, table: str) -> str:
    """Return the key of a table's node and record."""
    return clean_key(f"db_table:{connection}:{path_key(schema, table)}")


def column_key(connection: str, schema: str, table: str, column: str) -> str:
    """Return the key of a column's node."""
    return clean_key(f"db_column:{connection}:{path_key(schema, table, column)}")


def records(
    connection: str,
    schema: Schema,
    audience: AudienceDraft,
    *,
    title: str = "",
    only: Collection[tuple[str, str]] | None = None,
) -> Iterator[Record]:
    """Yield the record of each table, or of those in `only`, by schema and name."""
    for table in schema.tables:
        if only is None or (table.schema, table.name) in only:
            yield _record(connection, title or connection, table, audience)


def _record(
    connection: str, title: str, table: Table, audience: AudienceDraft
) -> Record:
    key = table_key(connection, table.schema, table.name)
    body = table_text(table)
    node = NodeDraft(
        key=key,
        node_type="db_table",
        title=table.name,
        content=body,
        context=f"database {title} · schema {table.schema}",
        metadata={
            "database": connection,
            "schema": table.schema,
            "table": table.name,
            "kind": table.kind,
        },
    )
    columns = tuple(_column(connection, title, table, one) for one in table.columns)
    own = (
        EdgeDraft(source=column.key, relation="column_of", target=key)
        for column in columns
    )
    references = (
        edge for one in table.foreign_keys for edge in _edges(connection, table, one)
    )
    return Record(
        key=key,
        kind="db_table",
        body=body,
        nodes=(node, *columns),
        edges=(*own, *references),
        audience=audience,
    )


def _column(connection: str, title: str, table: Table, column: Column) -> NodeDraft:
    return NodeDraft(
        key=column_key(connection, table.schema, table.name, column.name),
        node_type="db_column",
        title=f"{table.name}.{column.name}",
        content=column_text(table, column),
        context=f"database {title} · table {spoken(table.name)}",
        metadata={
            "database": connection,
            "schema": table.schema,
            "table": table.name,
            "column": column.name,
            "data_type": column.data_type,
        },
    )


def _edges(connection: str, table: Table, key: ForeignKey) -> Iterator[EdgeDraft]:
    """Yield the edge between the tables, and those between columns, pairwise."""
    target = (key.target_schema, key.target_table)
    said = f"{key.name}: {', '.join(key.columns)}"
    yield EdgeDraft(
        source=table_key(connection, table.schema, table.name),
        relation="references",
        target=table_key(connection, *target),
        quote=said,
    )
    for own, other in zip(key.columns, key.target_columns, strict=True):
        yield EdgeDraft(
            source=column_key(connection, table.schema, table.name, own),
            relation="references",
            target=column_key(connection, *target, other),
            quote=said,
        )
