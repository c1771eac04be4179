"""Two worlds with the same initial state: one gets GraphQL requests, the other REST requests."""

import re
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLField, GraphQLID, GraphQLObjectType, get_named_type, is_leaf_type

from tests.interfaces.graphql.catalogue import Catalogue, Json
from tests.interfaces.graphql.mutation_cases import Case
from tests.support.world import Answer, World
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.graphql.schema import Embedded, Leaf, schema, source_of

SEALED = frozenset({"credentials", "previous_secret"})
"""Columns whose values differ between any two worlds."""
OF_EACH_FILE = frozenset({"idempotency_keys", "log", "owner"})
"""Tables whose rows differ between any two files."""
EVENT_ID = re.compile("[0-9a-f]{32}")


@dataclass
class Pair:
    """Two worlds: `mine` gets GraphQL requests, `other` gets REST requests."""

    mine: Catalogue
    other: World

    async def do(self, case: Case, **options: Any) -> tuple[Any, list[Json], Answer]:
        """Return the value of the mutation, its errors, and the reply of REST. Check that both worlds are the same
        afterwards.
        """
        document, variables = written(case)
        answer = (await self.mine.send(document, variables, **options)).body
        told = await self.other.send(case.method, case.path, case.body, **options)
        assert "data" in answer, answer
        await self.are_alike()
        return answer["data"][case.name], answer.get("errors", []), told

    async def are_alike(self) -> None:
        mine, others = [await rows_of(world) for world in (self.mine.world, self.other)]
        for table, rows in mine.items():
            assert rows == others[table], table


async def rows_of(world: World) -> dict[str, list[Any]]:
    """Return the rows of every table, without random values."""

    def read(tx: Transaction) -> dict[str, list[Any]]:
        tables = [name for (name,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        alike = [name for name in tables if name not in OF_EACH_FILE]
        return {name: [_plain(row) for row in tx.records(f"SELECT * FROM {name}")] for name in alike}

    return await (await world.database()).read(read)


def _plain(row: Json) -> Json:
    return {
        name: EVENT_ID.sub("an id", value) if isinstance(value, str) else value
        for name, value in row.items()
        if name not in SEALED
    }


def written(case: Case, key: str | None = None) -> tuple[str, Json]:
    """Return a document that requests every field of the record, and its variables."""
    declared = mutation_fields()[case.name]
    names = {name: f"{key or ''}{name}" for name in case.arguments}
    head = ", ".join(f"${names[name]}: {declared.args[name].type}" for name in names)
    given = ", ".join(f"{name}: ${names[name]}" for name in names)
    alias = f"{key}: " if key else ""
    shown = selection(declared)
    return f"mutation({head}) {{ {alias}{case.name}({given}){shown} }}", {
        names[name]: value for name, value in case.arguments.items()
    }


def mutation_fields() -> dict[str, GraphQLField]:
    root = schema().mutation_type
    assert root is not None
    fields: dict[str, GraphQLField] = root.fields
    return fields


def selection(declared: GraphQLField) -> str:
    """Return a selection of all fields of the record itself."""
    of = get_named_type(declared.type)
    if not isinstance(of, GraphQLObjectType):
        return ""
    own = [name for name, each in of.fields.items() if isinstance(source_of(each), Leaf | Embedded)]
    return f" {{ {' '.join(name + selection(of.fields[name]) for name in own)} }}"


def as_graphql(declared: GraphQLField, value: Any) -> Any:
    """Convert a value of REST to its GraphQL form, in which ids are texts."""
    of = get_named_type(declared.type)
    if isinstance(value, list):
        return [as_graphql(declared, each) for each in value]
    if value is None or is_leaf_type(of):
        return str(value) if of is GraphQLID and value is not None else value
    assert isinstance(of, GraphQLObjectType)
    return {name: as_graphql(of.fields[name], each) for name, each in value.items()}
