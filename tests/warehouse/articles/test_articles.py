"""Articles over HTTP: the reply to each request, and the events that the request causes."""

import json
import unicodedata
from typing import Any
from urllib.parse import quote, unquote, urlencode

import pytest

from tests.support.world import World

BOLT = {"code": "BOLT-8", "name": "Bolt M8", "unit": "pcs"}


async def test_a_created_article_answers_whole_with_its_address(world: World) -> None:
    answer = await world.call("POST", "/api/articles", BOLT, status=201, events=["article.created"])
    assert answer.headers["Location"] == f"/api/articles/{answer.id}"
    assert answer.body == {
        "id": 1,
        "code": "BOLT-8",
        "name": "Bolt M8",
        "unit": "pcs",
        "description": None,
        "barcode": None,
        "barcodes": [],
        "unit_3pl": None,
        "um3pl_factor": 1,
        "min_stock": None,
        "track_lot": False,
        "track_serial": False,
        "weight_kg": None,
        "length_mm": None,
        "width_mm": None,
        "height_mm": None,
        "over_receipt_pct": None,
        "active": True,
        "client_id": None,
        "external_ref": None,
        "created_at": "2026-11-20T12:00:00.000Z",
        "updated_at": "2026-11-20T12:00:00.000Z",
    }
    assert (await world.call("GET", "/api/articles/1")).raw == answer.raw


async def test_the_event_carries_the_record_as_get_shows_it(world: World) -> None:
    await world.call("POST", "/api/articles", BOLT, status=201, events=["article.created"])
    await world.call("PATCH", "/api/articles/1", {"name": "Bolt"}, events=["article.updated"])
    (_, created), (_, updated) = await world.events_after(0)
    shown = (await world.call("GET", "/api/articles/1")).body
    assert created == {**shown, "name": "Bolt M8", "updated_at": shown["created_at"]}
    assert updated == shown


async def test_patch_changes_the_given_fields_and_put_all_of_them(world: World) -> None:
    await world.call("POST", "/api/articles", {**BOLT, "min_stock": 5}, status=201, events=["article.created"])
    world.clock.advance(60)
    patched = await world.call("PATCH", "/api/articles/1", {"barcode": "594"}, events=["article.updated"])
    assert (patched.body["min_stock"], patched.body["barcode"]) == (5, "594")
    assert patched.body["updated_at"] == "2026-11-20T12:01:00.000Z"
    assert patched.body["created_at"] == "2026-11-20T12:00:00.000Z"
    replaced = await world.call("PUT", "/api/articles/1", BOLT, events=["article.updated"])
    assert (replaced.body["min_stock"], replaced.body["barcode"]) == (None, None)


async def test_a_change_that_changes_nothing_writes_nothing(world: World) -> None:
    created = await world.call("POST", "/api/articles", BOLT, status=201, events=["article.created"])
    world.clock.advance(60)
    assert (await world.call("PATCH", "/api/articles/1", {"name": "Bolt M8"})).raw == created.raw
    assert (await world.call("PATCH", "/api/articles/1", {})).raw == created.raw
    assert (await world.call("PUT", "/api/articles/1", BOLT)).raw == created.raw


async def test_what_was_got_can_be_sent_back(world: World) -> None:
    created = await world.call("POST", "/api/articles", BOLT, status=201, events=["article.created"])
    assert (await world.call("PUT", "/api/articles/1", created.body)).raw == created.raw


async def test_by_code(world: World) -> None:
    await world.call("POST", "/api/articles", {**BOLT, "code": "A/B 1"}, status=201, events=["article.created"])
    changed = await world.call(
        "PATCH", "/api/articles/by-code/A%2FB%201", {"name": "New"}, events=["article.updated"]
    )
    assert (changed.id, changed.body["name"]) == (1, "New")
    await world.call("PATCH", "/api/articles/by-code/NO", {"name": "New"}, status=404)


async def test_codes_are_compared_exactly_and_unique(world: World) -> None:
    await world.call("POST", "/api/articles", {**BOLT, "code": "85123a"}, status=201, events=["article.created"])
    await world.call("POST", "/api/articles", {**BOLT, "code": "85123A"}, status=201, events=["article.created"])
    refused = await world.call("POST", "/api/articles", {**BOLT, "code": "85123A"}, status=422)
    assert refused.errors == {"code": ["is taken by another article"]}
    refused = await world.call("PATCH", "/api/articles/1", {"code": "85123A"}, status=422)
    assert refused.errors == {"code": ["is taken by another article"]}


async def test_clashes_come_all_at_once(world: World) -> None:
    first = {**BOLT, "external_ref": "X1"}
    await world.call("POST", "/api/articles", first, status=201, events=["article.created"])
    refused = await world.call("POST", "/api/articles", {**first, "client_id": 7}, status=422)
    assert set(refused.errors) == {"code", "external_ref", "client_id"}
    assert (await world.call("GET", "/api/articles")).body["meta"]["total"] == 1


async def test_decimals_are_exact(world: World) -> None:
    body = {**BOLT, "min_stock": 0.3, "weight_kg": 999999999.999999, "um3pl_factor": 0.000001}
    answer = await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    text = answer.raw.decode()
    assert '"min_stock":0.3,' in text
    assert '"weight_kg":999999999.999999,' in text
    assert '"um3pl_factor":0.000001,' in text


@pytest.mark.parametrize(
    ("barcode", "codes"),
    [
        ("5941234", ["A", "C"]),
        ("594 1234", ["B"]),
        ("59412345", ["C"]),
        ("594", []),
        ("abc-1/Ă", ["D"]),
        ("ABC-1/Ă", []),
        ('12" pipe', ["D"]),
        ("5941234 *", []),
        ("", []),
        ("%", []),
        ('"', []),
        ("---", ["E"]),
        ("***", ["E"]),
        ("📦", ["E"]),
        ("5941234\0", []),
        ("\0", []),
    ],
)
async def test_a_barcode_is_found_exactly(world: World, barcode: str, codes: list[str]) -> None:
    for code, own, others in (
        ("A", "5941234", []),
        ("B", "594 1234", ["594-1234"]),
        ("C", "59412345", ["x", "5941234"]),
        ("D", None, ["abc-1/Ă", '12" pipe']),
        ("E", "---", ["***", "📦"]),
    ):
        body = {"code": code, "name": "5941234", "barcode": own, "barcodes": others}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    for path in ("/api/articles", "/api/v2/articles"):
        page = (await world.call("GET", f"{path}?{urlencode({'barcode': barcode})}")).body
        assert [article["code"] for article in (await named(world, page["data"]))] == codes
        assert page["meta"]["total"] == len(codes)


async def named(world: World, found: list[Any]) -> list[Any]:
    return [(await world.call("GET", f"/api/articles/{each['id']}")).body for each in found]


async def test_pages(world: World) -> None:
    for place in range(5):
        await world.call(
            "POST", "/api/articles", {**BOLT, "code": f"C{place}"}, status=201, events=["article.created"]
        )
    page = (await world.call("GET", "/api/articles?per_page=2&page=2")).body
    assert [article["code"] for article in page["data"]] == ["C2", "C3"]
    meta = {"current_page": 2, "last_page": 3, "per_page": 2, "total": 5, "truncated": False}
    last = (await world.call("GET", "/api/articles/5")).body
    assert page["meta"] == {**meta, "as_of": last["updated_at"]}
    beyond = (await world.call("GET", "/api/articles?page=9")).body
    assert (beyond["data"], beyond["meta"]["last_page"]) == ([], 1)


@pytest.mark.parametrize(
    ("search", "codes"),
    [
        ("white", ["A-1", "A-2"]),
        ("WHITE heart", ["A-1"]),
        ("hea whi", ["A-1"]),
        ("a-1", ["A-1"]),
        ("5941", ["A-2"]),
        ("77", ["A-3"]),
        ("lantern", ["A-2"]),
        ("nothing", []),
        ("latarnie", ["A-3"]),
    ],
)
async def test_search_matches_beginnings_of_words(world: World, search: str, codes: list[str]) -> None:
    for article in (
        {"code": "A-1", "name": "White hanging heart"},
        {"code": "A-2", "name": "White metal lantern", "barcode": "594123"},
        {"code": "A-3", "name": "Lătărnie roșie", "barcodes": ["771", "882"]},
    ):
        await world.call("POST", "/api/articles", article, status=201, events=["article.created"])
    answer = await world.send("GET", "/api/articles?search=" + search.replace(" ", "%20").replace("^", "%5E"))
    assert [article["code"] for article in answer.body["data"]] == codes
    assert answer.body["meta"]["total"] == len(codes)


@pytest.mark.parametrize("search", ["", "%20", "%09%20", "~"])
async def test_a_search_for_nothing_is_refused(world: World, search: str) -> None:
    """A search without a word finds nothing, while a list without a search returns everything."""
    sentence = "must contain a letter or a digit; leave the search out to list everything"
    for path in ("/api/articles", "/api/v2/articles"):
        answer = await world.call("GET", f"{path}?search={search}", status=422)
        assert answer.errors == {"search": [sentence]}
    query = f'{{ articles(search: "{unquote(search).strip(chr(9))}") {{ nodes {{ id }} }} }}'
    (error,) = (await world.send("POST", "/api/graphql", {"query": query})).body["errors"]
    assert error["extensions"]["errors"] == {"search": [sentence]}


async def test_search_finds_letters_beyond_ascii_in_either_form_and_by_their_plain_letters(world: World) -> None:
    stored = ("Crème Brûlée", "Cre\u0300me anglaise", "Nguyễn Đình", "Łódź Ørsted", "Straße", "x\u0301y cup")
    for place, name in enumerate(stored):
        article = {"code": f"A-{place}", "name": name, "barcode": f"ŁB-{place}"}
        await world.call("POST", "/api/articles", article, status=201, events=["article.created"])
    for search, places in {
        "crème": [0, 1],
        "cre\u0300me": [0, 1],
        "creme": [0, 1],
        "Crème brûlée": [0],
        "Nguyễn Đình": [2],
        unicodedata.normalize("NFD", "Nguyễn Đình"): [2],
        "nguyen dinh": [2],
        "lodz orsted": [3],
        "łódź": [3],
        unicodedata.normalize("NFD", "ŁÓDŹ"): [3],
        "strasse": [4],
        "straße": [4],
        "STRASSE": [4],
        "xy": [5],
        "x\u0301": [5],
        "lb": [0, 1, 2, 3, 4, 5],
    }.items():
        found = await world.call("GET", f"/api/articles?search={quote(search)}")
        assert [article["code"] for article in found.body["data"]] == [f"A-{place}" for place in places], search
    await world.call("PATCH", "/api/articles/1", {"name": "Smørrebrød"}, events=["article.updated"])
    for search, number in {"smorrebrod": 1, "brûlée": 0}.items():
        found = await world.call("GET", f"/api/articles?search={quote(search)}")
        assert found.body["meta"]["total"] == number, search
    found = await world.call("GET", f"/api/articles?barcode={quote('ŁB-3')}")
    assert [article["code"] for article in found.body["data"]] == ["A-3"]


async def test_search_follows_a_change(world: World) -> None:
    await world.call("POST", "/api/articles", BOLT, status=201, events=["article.created"])
    await world.call("PATCH", "/api/articles/1", {"name": "Screw"}, events=["article.updated"])
    assert (await world.call("GET", "/api/articles?search=bolt%20m8")).body["data"] == []
    assert (await world.call("GET", "/api/articles?search=screw")).body["meta"]["total"] == 1
    assert (await world.call("GET", "/api/articles?search=screw&code=NO")).body["meta"]["total"] == 0


async def test_search_reads_an_index(world: World) -> None:
    plan = await world.rows(
        "EXPLAIN QUERY PLAN SELECT id FROM articles WHERE id IN "
        "(SELECT rowid FROM article_search WHERE article_search MATCH 'x*') ORDER BY id LIMIT 50"
    )
    steps = [step[3] for step in plan]
    assert not any(step.startswith("SCAN articles") for step in steps), steps


async def test_sparse_fields_in_v2(world: World) -> None:
    await world.call("POST", "/api/articles", BOLT, status=201, events=["article.created"])
    answer = await world.call("GET", "/api/v2/articles?fields=name,code")
    assert json.loads(answer.raw)["data"] == [{"id": 1, "code": "BOLT-8", "name": "Bolt M8"}]
    refused = await world.call("GET", "/api/v2/articles?fields=name,price,cost", status=422)
    assert refused.errors == {
        "fields": ["price is not a field of this record", "cost is not a field of this record"]
    }


async def test_another_companys_article_is_not_there(world: World) -> None:
    other = await world.new_company("OTHER")
    await world.call("POST", "/api/articles", BOLT, status=201, events=["article.created"])
    missing = await world.call("GET", "/api/articles/1", company=other, status=404)
    unknown = await world.call("GET", "/api/articles/2", status=404)
    assert missing.raw == unknown.raw
