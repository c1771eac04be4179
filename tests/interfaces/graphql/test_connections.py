"""Lists are Relay connections over the cursors of REST."""

from typing import Any

import pytest

from tests.interfaces.graphql.catalogue import LISTS, Catalogue, Json, arguments_text
from tests.support.world import World
from wmsd.base.cursor import UNKNOWN, CursorSigner
from wmsd.interfaces.graphql.root_fields import QUERIES

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAGE = (
    "{ edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }"
)
FILTERED = [(name, arguments) for name, of in LISTS.items() for arguments in of.filters]
BY_CURSOR = {name for name, of in LISTS.items() if of.path.startswith("/api/v2/")} - {"webhooks"}
"""The lists that REST walks by the same cursors."""
EVERY = pytest.mark.parametrize("name", LISTS)


async def page(catalogue: Catalogue, name: str, arguments: Json) -> Any:
    return (await catalogue.ask(f"{{ {name}{arguments_text(arguments)} {PAGE} }}"))[name]


async def walk(catalogue: Catalogue, name: str, arguments: Json, first: int) -> list[Any]:
    """Return the pages of a walk; each page starts at the end cursor of the previous page."""
    pages = [await page(catalogue, name, {**arguments, "first": first})]
    while pages[-1]["pageInfo"]["hasNextPage"]:
        after = pages[-1]["pageInfo"]["endCursor"]
        pages.append(await page(catalogue, name, {**arguments, "first": first, "after": after}))
    return pages


async def ids(catalogue: Catalogue, name: str, arguments: Json) -> list[str]:
    """Return the ids of the list in REST."""
    return [str(record["id"]) for record in await catalogue.listed(name, arguments)]


async def refused(catalogue: Catalogue, name: str, arguments: Json, **options: Any) -> Json:
    """Return the extensions of the only error."""
    answer = (
        await catalogue.send(f"{{ {name}{arguments_text(arguments)} {{ nodes {{ id }} }} }}", **options)
    ).body
    assert answer["data"] == {name: None}
    (error,) = answer["errors"]
    assert error["path"] == [name]
    extensions: Json = error["extensions"]
    return extensions


async def test_the_table_has_every_list() -> None:
    assert set(LISTS) == {field.name for field in QUERIES if field.operation.answer == "cursor"}


async def test_the_table_has_every_filter() -> None:
    for field in QUERIES:
        if field.name in LISTS:
            assert field.operation.query is not None
            tried = {argument for arguments in LISTS[field.name].filters for argument in arguments}
            filters = set(field.operation.query.model_fields) - {"cursor", "per_page", "detail"}
            called = {parameter: argument for argument, parameter in field.renamed.items()}
            assert {called.get(name, name) for name in filters} - tried <= {"after_event", "code"}, field.name


@pytest.mark.parametrize(("name", "arguments"), FILTERED)
@pytest.mark.parametrize("first", [1, 3, 7, 500])
async def test_a_walk_visits_every_record_once(
    catalogue: Catalogue, name: str, arguments: Json, first: int
) -> None:
    first = min(first, 400) if "search" in arguments else first  # a search has an additional cost
    pages = await walk(catalogue, name, arguments, first)
    visited = [node["id"] for each in pages for node in each["nodes"]]
    assert visited == await ids(catalogue, name, arguments)
    assert len(visited) == len(set(visited))
    for each in pages:
        assert [edge["node"] for edge in each["edges"]] == each["nodes"]
    assert [len(each["nodes"]) for each in pages[:-1]] == [first] * (len(pages) - 1)


@EVERY
async def test_a_page_says_where_it_stands(catalogue: Catalogue, name: str) -> None:
    arguments = LISTS[name].filters[0]
    pages = await walk(catalogue, name, arguments, 2)
    for number, each in enumerate(pages):
        cursors = [edge["cursor"] for edge in each["edges"]]
        assert each["pageInfo"] == {
            "hasNextPage": number < len(pages) - 1,
            "hasPreviousPage": number > 0,
            "startCursor": cursors[0],
            "endCursor": cursors[-1],
        }


@EVERY
async def test_every_edge_can_be_gone_on_from(catalogue: Catalogue, name: str) -> None:
    arguments = LISTS[name].filters[0]
    edges = (await page(catalogue, name, {**arguments, "first": 5}))["edges"]
    every = await ids(catalogue, name, arguments)
    for place, edge in enumerate(edges, 1):
        found = await page(catalogue, name, {**arguments, "first": 500, "after": edge["cursor"]})
        assert [node["id"] for node in found["nodes"]] == every[place:]


async def test_a_list_without_records_has_only_an_end(catalogue: Catalogue) -> None:
    found = await page(catalogue, "sales_orders", {"code": "none"})
    end = found["pageInfo"].pop("endCursor")
    assert found == {
        "edges": [],
        "nodes": [],
        "pageInfo": {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None},
    }
    again = await page(catalogue, "sales_orders", {"code": "none", "after": end})
    assert (again["nodes"], again["pageInfo"]["endCursor"]) == ([], end)


async def test_behind_the_last_record_is_nothing(catalogue: Catalogue) -> None:
    last = (await page(catalogue, "clients", {}))["pageInfo"]["endCursor"]
    found = await page(catalogue, "clients", {"after": last})
    assert (found["edges"], found["pageInfo"]["hasNextPage"], found["pageInfo"]["hasPreviousPage"]) == (
        [],
        False,
        True,
    )


async def test_fifty_records_are_shown_unless_first_says_otherwise(catalogue: Catalogue) -> None:
    found = await page(catalogue, "events", {})
    assert (len(found["nodes"]), found["pageInfo"]["hasNextPage"]) == (50, True)


@pytest.mark.parametrize("name", sorted(BY_CURSOR))
async def test_a_cursor_of_rest_is_one_of_graphql(catalogue: Catalogue, name: str) -> None:
    arguments = LISTS[name].filters[0]
    path = LISTS[name].path.format(**arguments)
    listed = (await catalogue.world.send("GET", f"{path}?per_page=1")).body
    found = await page(catalogue, name, {**arguments, "first": 1})
    assert found["pageInfo"]["endCursor"] == listed["end_cursor"]
    assert listed["next_cursor"] in (None, listed["end_cursor"])


async def test_events_after_one_that_is_known(catalogue: Catalogue) -> None:
    every = await ids(catalogue, "events", {})
    found = await page(catalogue, "events", {"after_event": every[9], "first": 500})
    assert [node["id"] for node in found["nodes"]] == every[10:]
    rest = await page(
        catalogue, "events", {"after_event": every[9], "after": found["edges"][0]["cursor"], "first": 500}
    )
    assert [node["id"] for node in rest["nodes"]] == every[11:]


# --- cursors of other lists ------------------------------------------------------------------------------------

ELSEWHERE = {"after": [UNKNOWN]}
NO_CURSOR = {"after": ["is not a cursor of this list. Start again without a cursor"]}


@EVERY
async def test_a_cursor_of_another_list_is_refused(catalogue: Catalogue, name: str) -> None:
    other = "articles" if name != "articles" else "clients"
    cursor = (await page(catalogue, other, {"first": 1}))["pageInfo"]["endCursor"]
    found = await refused(catalogue, name, {**LISTS[name].filters[0], "after": cursor})
    assert (found["code"], found["errors"]) == ("VALIDATION_FAILED", ELSEWHERE)


@pytest.mark.parametrize(
    "name", [name for name, of in LISTS.items() if len(of.filters) > 1 and name != "article_changes"]
)
async def test_a_cursor_of_other_filters_is_refused(catalogue: Catalogue, name: str) -> None:
    first, second, *_ = LISTS[name].filters
    cursor = (await page(catalogue, name, {**first, "first": 1}))["pageInfo"]["endCursor"]
    assert (await refused(catalogue, name, {**second, "after": cursor}))["errors"] == ELSEWHERE


async def test_a_cursor_of_another_company_is_refused(catalogue: Catalogue) -> None:
    world = catalogue.world
    other = await world.new_company("OTHER")
    cursor = (await page(catalogue, "clients", {"first": 1}))["pageInfo"]["endCursor"]
    assert (await refused(catalogue, "clients", {"after": cursor}, company=other))["errors"] == ELSEWHERE


async def test_a_cursor_of_another_installation_is_refused(catalogue: Catalogue) -> None:
    forged = CursorSigner(b"another key").sign(1, catalogue.world.company, "walk_clients", {})
    assert (await refused(catalogue, "clients", {"after": forged}))["errors"] == ELSEWHERE


@pytest.mark.parametrize("cursor", ["1", "é", "!!!!", "a" * 201])
async def test_what_is_no_cursor_is_refused(catalogue: Catalogue, cursor: str) -> None:
    errors = (await refused(catalogue, "clients", {"after": cursor}))["errors"]
    assert list(errors) == ["after"]


# --- filters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "errors"),
    [
        ("sales_orders", {"partner_id": "x"}, {"partner_id": ["must be a whole number"]}),
        ("sales_orders", {"partner_id": "0"}, {"partner_id": ["must be from 1 to 9007199254740991"]}),
        ("sales_orders", {"updated_since": "yesterday"}, None),
        ("articles", {"search": "x" * 65}, {"search": ["must have at most 64 characters"]}),
        ("events", {"event": ["nothing"]}, None),
    ],
)
async def test_a_filter_that_cannot_be_is_named(
    catalogue: Catalogue, name: str, arguments: Json, errors: Any
) -> None:
    found = await refused(catalogue, name, arguments)
    assert found["code"] == "VALIDATION_FAILED"
    assert list(found["errors"]) == list(arguments)
    assert errors is None or found["errors"] == errors


async def test_all_that_is_wrong_with_arguments_is_said_at_once(catalogue: Catalogue) -> None:
    found = await refused(catalogue, "sales_orders", {"partner_id": "x", "updated_since": "y", "after": "a" * 201})
    assert set(found["errors"]) == {"partner_id", "updated_since", "after"}


async def test_a_filter_of_null_is_none(catalogue: Catalogue) -> None:
    found = await catalogue.ask("{ sales_orders(status: null, partner_id: null) { nodes { id } } }")
    assert [node["id"] for node in found["sales_orders"]["nodes"]] == await ids(catalogue, "sales_orders", {})


@pytest.mark.parametrize(("name", "filter"), [("sales_orders", "status"), ("events", "event")])
async def test_one_of_none_is_refused(catalogue: Catalogue, name: str, filter: str) -> None:
    """Some callers would expect no records, others all records."""
    assert list((await refused(catalogue, name, {filter: []}))["errors"]) == [filter]


@pytest.mark.asyncio(loop_scope="function")
async def test_records_that_come_while_one_walks_are_visited(world: World) -> None:
    catalogue = Catalogue(world)
    for code in ("A", "B"):
        await world.call(
            "POST", "/api/articles", {"code": code, "name": code}, status=201, events=["article.created"]
        )
    first = await page(catalogue, "articles", {"first": 2})
    assert not first["pageInfo"]["hasNextPage"]
    await world.call("POST", "/api/articles", {"code": "C", "name": "C"}, status=201, events=["article.created"])
    after = await page(catalogue, "articles", {"first": 2, "after": first["pageInfo"]["endCursor"]})
    assert [node["id"] for node in after["nodes"]] == ["3"]
