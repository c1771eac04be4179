"""The number of SQL statements does not depend on the number of records in a reply."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from graphql import GraphQLObjectType, get_named_type

from tests.interfaces.graphql.catalogue import Catalogue
from tests.support.dock import arrival, open_dock
from tests.support.statements import statements
from tests.support.world import UNLIMITED, World, open_world
from wmsd.db.sql.lists import FEW_AT_ONCE
from wmsd.interfaces.graphql.root_fields import Collection
from wmsd.interfaces.graphql.schema import Embedded, schema, source_of
from wmsd.warehouse.references_by_id import Reference

pytestmark = pytest.mark.asyncio(loop_scope="module")
MANY = FEW_AT_ONCE
"""Larger numbers of large records are read in parts; each part takes as many statements as the first."""
LISTS = {
    "Article": "articles",
    "StockRecord": "stock",
    "SalesOrder": "sales_orders",
    "PurchaseOrder": "purchase_orders",
    "Reception": "receptions",
    "Return": "returns",
    "Count": "counts",
    "PackagingBalance": "packaging_balances",
    "PackagingMovement": "packaging_movements",
}
"""The list of each type that refers to other types."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Catalogue]:
    """Create many records that refer to others, and as many records to refer to."""
    async with open_world(tmp_path_factory.mktemp("crowd") / "data", UNLIMITED) as world:
        await _fill(world)
        yield Catalogue(world)


async def _fill(world: World) -> None:
    dock = await open_dock(world)
    numbers = range(1, MANY + 1)
    for kind, more in (("partners", ",CLIENT"), ("warehouses", ""), ("clients", ""), ("packaging-types", "")):
        header = "code,name,type" if more else "code,name"
        await world.import_csv(kind, "\n".join([header, *(f"X{each},Name{more}" for each in numbers), ""]))
    await world.import_csv(
        "articles", "\n".join(["code,name,client_code", *(f"X{each},Name,X{each}" for each in numbers), ""])
    )
    await world.import_csv(
        "stock",
        "\n".join(["article_code,warehouse_code,quantity", *(f"X{each},X{each},50" for each in numbers), ""]),
    )
    assert (await world.send("PATCH", "/api/articles/1", {"client_id": 1})).status == 200
    for each in range(MANY):
        partner, warehouse, client, article = 5 + each, 4 + each, 2 + each, 9 + each
        whose = {"partner_id": partner, "warehouse_id": warehouse}
        lines = [{"article_id": article, "quantity": 1}, {"article_id": 9 + (each + 1) % MANY, "quantity": 1}]
        order = await dock.order(lines[0], **whose, client_id=client, status="INCARCAT")
        bought = await dock.purchase((article, 2), (9 + (each + 1) % MANY, 2), **whose)
        packaging = [{"packaging_type_id": 1 + each, "quantity": 1}]
        fields = {**arrival(bought, warehouse_id=warehouse), "packaging": packaging}
        assert (await world.send("POST", "/api/receptions", fields)).status == 201
        back = {**whose, "sales_order_id": order.id, "lines": lines[:1]}
        assert (await world.send("POST", "/api/returns", back)).status == 201
        counted = {"warehouse_id": warehouse, "lines": [{"article_id": article}]}
        assert (await world.send("POST", "/api/v2/counts", counted)).status == 201


async def count(catalogue: Catalogue, document: str, first: int) -> int:
    with statements(catalogue.world) as run:
        await catalogue.ask(document, {"first": first})
    return len(run)


async def test_orders_with_all_that_hangs_on_them(crowd: Catalogue) -> None:
    document = """query($first: Int!) { sales_orders(first: $first) { nodes {
        partner { name } lines { article { stock(first: 1) { quantity warehouse { name } } } }
    } } }"""
    one = await count(crowd, document, 1)
    assert one == await count(crowd, document, MANY)
    assert one <= 8  # the epoch, orders, whether there are more orders, partners, articles, stock, warehouses


def links() -> list[tuple[str, str]]:
    """Return every reference and collection: the type in a list, and the path of fields that leads to the
    reference.
    """
    found = []
    for name in LISTS:
        of = schema().type_map[name]
        assert isinstance(of, GraphQLObjectType)
        found += [(name, path) for path in _links_of(of)]
    return found


def _links_of(of: GraphQLObjectType) -> list[str]:
    found = []
    for name, declared in of.fields.items():
        source = source_of(declared)
        kind = get_named_type(declared.type)
        if isinstance(source, Reference | Collection):
            found.append(f"{name}(first: 5)" if isinstance(source, Collection) else name)
        elif isinstance(source, Embedded) and isinstance(kind, GraphQLObjectType):
            found += [f"{name} {path}" for path in _links_of(kind)]
    return found


async def test_every_type_that_refers_to_others_is_tried() -> None:
    shown = {part for name, path in links() for part in (name, *path.split()[:-1])}
    for name, kind in schema().type_map.items():
        if isinstance(kind, GraphQLObjectType) and not name.endswith(("Connection", "Edge")) and name[0] != "_":
            if name in ("Query", "Mutation", "PageInfo"):
                continue
            refers = any(isinstance(source_of(field), Reference | Collection) for field in kind.fields.values())
            is_line = name.endswith(("Line", "Item"))
            assert refers <= (name in shown or is_line), name


@pytest.mark.parametrize(("name", "path"), links())
async def test_a_reference_costs_as_much_for_many_as_for_one(crowd: Catalogue, name: str, path: str) -> None:
    selection = "id"
    for field in reversed(path.replace("first: ", "first:").split()):
        selection = f"{field} {{ {selection} }}"
    document = f"query($first: Int!) {{ {LISTS[name]}(first: $first) {{ nodes {{ {selection} }} }} }}"
    alone = f"query($first: Int!) {{ {LISTS[name]}(first: $first) {{ nodes {{ id }} }} }}"
    counts = [await count(crowd, document, first) for first in (1, 10, MANY)]
    assert len(set(counts)) == 1, counts
    assert counts[0] == await count(crowd, alone, 1) + 1


async def test_a_reference_at_several_places_is_loaded_for_each_place_once(crowd: Catalogue) -> None:
    document = """query($first: Int!) {
        sales_orders(first: $first) { nodes { partner { id } warehouse { id } lines { warehouse { id } } } }
    }"""
    assert await count(crowd, document, 1) == await count(crowd, document, MANY)


async def test_what_nobody_asks_for_costs_nothing(crowd: Catalogue) -> None:
    with statements(crowd.world) as run:
        await crowd.ask("{ __typename __schema { queryType { name } } articles @skip(if: true) { nodes { id } } }")
    assert run == []


async def test_references_of_nothing_cost_nothing(crowd: Catalogue) -> None:
    """An article without a client needs no further statement."""
    with statements(crowd.world) as run:
        await crowd.ask("{ article(id: 3) { client { id } } }")
    assert len(run) == 1


@pytest.mark.parametrize(
    ("selection", "is_read"),
    [
        ("id code", False),
        ("partner { id }", False),
        ("lines { quantity }", True),
        ("code items: lines { id }", True),
    ],
)
async def test_lines_are_read_only_if_the_document_asks_for_them(
    crowd: Catalogue, selection: str, is_read: bool
) -> None:
    with statements(crowd.world) as run:
        await crowd.ask(f"{{ sales_orders(first: 5) {{ edges {{ node {{ {selection} }} }} }} }}")
    assert any("FROM sales_order_lines" in sql for sql in run) == is_read
