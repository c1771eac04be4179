"""Parts of a kind of document that its declaration cannot hold are in the right place. A missing part is named."""

import pytest

from tests.support.world import World
from tests.test_layers import OWNERS, rooms
from wmsd.contract.access import ABILITIES
from wmsd.contract.tags import TAGS
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.cli.main import COMMANDS
from wmsd.interfaces.service import ROUTES
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.references_by_id import REFERENCES

OF_NO_ROOM = {
    *("change_sequence", "log", "owner", "row_counts", "series"),
    *("events", "event_counts", "idempotency_keys"),
    *("webhook_subscriptions", "webhook_deliveries", "webhook_attempts"),
    *("webhook_topics", "webhook_leftovers", "webhook_subscription_counts", "webhook_hours"),
    *("webhook_receivers", "webhook_received"),
    *("imports", "import_rows", "import_images", "epochs", "seams"),
    *("search_entries", "search_progress", "papers"),
}
"""The tables that belong to no package of records: those of the files themselves, the outbox, the webhooks and the
application.
"""

OF_STOCK = ("stock:read", {"stock:count", "stock:write"})
"""The ability to read counts, and the abilities to enter and book counts."""


@pytest.fixture(params=DOCUMENTS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> DocumentKind:
    found: DocumentKind = request.param
    return found


def test_it_has_its_events(kind: DocumentKind) -> None:
    assert {f"{kind.table.entity}.{what}" for what in ("created", "updated", "status_changed")} <= EVENTS.keys()


def test_its_operations_need_its_abilities(kind: DocumentKind) -> None:
    reads, writes = OF_STOCK if kind.name == "counts" else (f"{kind.name}:read", {f"{kind.name}:write"})
    assert {each.ability for each in kind.reading.operations} == {reads}
    assert {each.ability for each in kind.writing.operations} == writes
    assert {reads, *writes} <= ABILITIES.keys()


def test_no_other_kind_has_its_movements(kind: DocumentKind) -> None:
    """The movements of a document are found by their kind and the document's id."""
    others = {movement for other in DOCUMENTS if other is not kind for movement in other.movements}
    assert others.isdisjoint(kind.movements)


def test_it_has_a_head_in_the_descriptions(kind: DocumentKind) -> None:
    operations = (*kind.reading.operations, *kind.writing.operations)
    assert {TAGS[each.tag].noun for each in operations} == {kind.table.noun}


def test_it_has_its_routes(kind: DocumentKind) -> None:
    routed = {route.operation.name for route in ROUTES}
    own = {each.name for each in (kind.reading.one, *kind.writing.operations)}
    assert own <= routed
    assert {kind.reading.by_page.name, kind.reading.by_cursor.name} & routed


def test_graphql_shows_what_it_refers_to(kind: DocumentKind) -> None:
    assert {f"{name}_id" for name in kind.table.references} <= {each.id_field for each in REFERENCES}


def test_it_has_its_command(kind: DocumentKind) -> None:
    assert kind.table.noun.replace(" ", "-") in COMMANDS


def test_it_has_its_layer(kind: DocumentKind) -> None:
    room = f"warehouse/{kind.table.name}"
    assert room in rooms()
    assert {kind.table.name, kind.table.line_table.name} <= set(OWNERS[room])


async def test_it_is_counted(kind: DocumentKind, world: World) -> None:
    counted = {name for (name,) in await world.rows("SELECT name FROM row_counts")}
    assert kind.table.name in counted


def test_no_two_have_one_series() -> None:
    series = [kind.table.series for kind in DOCUMENTS]
    assert len(set(series)) == len(series)


async def test_every_table_has_its_room(world: World) -> None:
    tables = """
        SELECT name FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'article_search%'
            AND name NOT LIKE 'search_index%'
    """
    owned = {table for tables in OWNERS.values() for table in tables}
    counts = {kind.table.tally.table for kind in DOCUMENTS}
    left = {name for (name,) in await world.rows(tables)}
    assert left - owned - counts - OF_NO_ROOM == set()
