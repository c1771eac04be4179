"""The pages of lots and serials: where the goods are, where they came from, and where they went.

This module also has the page with the movements of an article.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from wmsd.contract.operation import Operation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.addresses import NUMBER, PARTS, of_part
from wmsd.interfaces.pages.kit.references import BY_ENTITY, named_documents
from wmsd.interfaces.pages.kit.resources import BY_NAME
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.records import ledger_words
from wmsd.interfaces.pages.records.described_movements import describe_movements, partners_of
from wmsd.warehouse.stock import part_actions

PER_PAGE: Final = 50
FIRST: Final = 20
"""The maximum number of records in each list on a page."""
ARTICLES: Final = BY_NAME["articles"]
STOCK: Final = BY_NAME["stock"]
AMOUNTS: Final = ("quantity", "reserved", "quarantined", "available")
DIRECTIONS: Final = ("in", "out")


class Kind(NamedTuple):
    """What differs between the pages of lots and the pages of serials.

    `field` is the field with the number of the lot or serial. `title` is the name of the kind for people.
    """

    field: str
    title: str
    one: Operation


LOT: Final = Kind("lot_number", "Lot", part_actions.get_lot)
SERIAL: Final = Kind("serial", "Serial", part_actions.get_serial)


async def show(kind: Kind, at: Workplace, request: web.Request) -> web.Response:
    """Show the page of a lot or a serial."""
    article_id, number = request.match_info["id"], request.query.get(NUMBER, "")
    part = await at.need(kind.one, path={"id": article_id, kind.field: number})
    of_part_ = partial(_movements, at, article_id, {kind.field: number})
    came, went = await of_part_(direction="in"), await of_part_(direction="out")
    return page_of(
        at,
        "part",
        STOCK.name,
        part=part,
        kind=kind,
        number=number,
        is_lot=kind is LOT,
        totals={name: sum(each[name] for each in part["places"]) for name in AMOUNTS},
        holders=await _holders(at, part["holders"]),
        article_at=_article_at(at, article_id),
        lot_at=partial(of_part, at.address, part["article_id"], LOT.field),
        came=came,
        went=went,
        words=ledger_words.KINDS,
        signed=ledger_words.signed,
    )


def _article_at(at: Workplace, article_id: int | str) -> str | None:
    """Return the address of the article's page, or None if the person may not read articles."""
    return f"{at.address}/{ARTICLES.name}/{article_id}" if at.may(ARTICLES.listing) else None


async def _movements(
    at: Workplace, article_id: str, of: Mapping[str, str], direction: str = "", most: int = FIRST
) -> Mapping[str, Any]:
    """Return the newest movements of an article, or of one of its lots or serials.

    `of` is the filter for the lot or serial. `direction` is `in` or `out`, or "" for both. In the result,
    `address` leads to the list of all movements in this direction, and `all` to the list of movements in both
    directions.
    """
    asked = {**of, **({"direction": direction} if direction else {})}
    query = {**asked, "per_page": str(most)}
    found = await at.need(
        part_actions.list_article_movements, path={"id": article_id}, query=query, is_counted=True
    )
    address = f"{at.address}/{ARTICLES.name}/{article_id}/movements"
    return {
        "movements": await describe_movements(at, found["data"]),
        "has_more": found["next_cursor"] is not None,
        "address": f"{address}?{urlencode(asked)}" if asked else address,
        "all": f"{address}?{urlencode(of)}" if of else address,
    }


async def _holders(at: Workplace, holders: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the open documents that reserve the goods, with their partners."""
    kinds = {each["kind"]: BY_ENTITY[each["kind"]] for each in holders}
    documents = await named_documents(at, ((kinds[each["kind"]], each["id"]) for each in holders))
    shown = [{**each, "document": documents[kinds[each["kind"]].name, each["id"]]} for each in holders]
    partners = await partners_of(at, [each["document"].record for each in shown if each["document"].record])
    for each in shown:
        record = each["document"].record or {}
        each["partner"] = partners.get(("partner_id", record.get("partner_id", 0)))
    return shown


async def show_movements(at: Workplace, request: web.Request) -> web.Response:
    """Show the movements of an article. With a filter in the address, show only the movements of one lot or one
    serial.
    """
    article_id = request.match_info["id"]
    of = {name: request.query[name] for name in PARTS if request.query.get(name)}
    direction = request.query.get("direction", "")
    asked = {**of, **({"direction": direction} if direction in DIRECTIONS and of else {})}
    query = {**asked, "per_page": str(PER_PAGE), **_cursor(request)}
    found = await at.need(part_actions.list_article_movements, path={"id": article_id}, query=query)
    address = f"{at.address}/{ARTICLES.name}/{article_id}"
    cursor = found["next_cursor"]
    return page_of(
        at,
        "article_movements",
        STOCK.name,
        article=await _article(at, article_id),
        article_at=_article_at(at, article_id),
        of=of,
        part_at=next((of_part(at.address, int(article_id), name, number) for name, number in of.items()), None),
        direction=asked.get("direction", ""),
        movements=await describe_movements(at, found["data"]),
        words=ledger_words.KINDS,
        signed=ledger_words.signed,
        part_address=partial(of_part, at.address, int(article_id)),
        first=f"{address}/movements?{urlencode(asked)}" if request.query.get("cursor") else None,
        after=f"{address}/movements?{urlencode({**asked, 'cursor': cursor})}" if cursor else None,
    )


async def show_lots(at: Workplace, request: web.Request) -> web.Response:
    """Show all lots of an article that are in stock, or only the lots in a warehouse."""
    article_id, warehouse = request.match_info["id"], request.query.get("warehouse_id", "")
    kept = {"warehouse_id": warehouse} if warehouse else {}
    query = {**kept, "per_page": str(PER_PAGE), **_cursor(request)}
    found = await at.need(part_actions.list_lots, path={"id": article_id}, query=query)
    cursor = found["next_cursor"]
    return page_of(
        at,
        "article_parts",
        STOCK.name,
        article=await _article(at, article_id),
        article_at=_article_at(at, article_id),
        lots=found["data"],
        serials=None,
        part_address=partial(of_part, at.address, int(article_id)),
        first=f"?{urlencode(kept)}" if request.query.get("cursor") else None,
        after=f"?{urlencode({**kept, 'cursor': cursor})}" if cursor else None,
    )


async def show_serials(at: Workplace, request: web.Request) -> web.Response:
    """Show all serials of an article that are in stock."""
    article_id, begins_after = request.match_info["id"], request.query.get("after", "")
    query = {"after": begins_after} if begins_after else {}
    found = (await at.need(part_actions.list_serials, path={"id": article_id}, query=query))["data"]
    shown = found[:PER_PAGE]
    return page_of(
        at,
        "article_parts",
        STOCK.name,
        article=await _article(at, article_id),
        article_at=_article_at(at, article_id),
        lots=None,
        serials=shown,
        part_address=partial(of_part, at.address, int(article_id)),
        first="?" if begins_after else None,
        after=f"?{urlencode({'after': shown[-1]['serial']})}" if len(found) > PER_PAGE else None,
    )


def _cursor(request: web.Request) -> dict[str, str]:
    return {"cursor": request.query["cursor"]} if request.query.get("cursor") else {}


async def _article(at: Workplace, article_id: str) -> Mapping[str, Any] | None:
    """Return the article, or None if the person may not read it."""
    assert ARTICLES.one is not None
    answer = await at.ask(ARTICLES.one, path={"id": article_id}, is_counted=True)
    return answer.body if answer.is_good else None


async def of_article(at: Workplace, article_id: int) -> dict[str, Any] | None:
    """Return the first lots, the first serials and the newest movements of an article, for its page.

    Return None if the person may not read stock.
    """
    if not at.may(part_actions.list_lots):
        return None
    path = {"id": str(article_id)}
    lots = await at.need(part_actions.list_lots, path=path, query={"per_page": str(FIRST)}, is_counted=True)
    serials = (await at.need(part_actions.list_serials, path=path, is_counted=True))["data"]
    return {
        "address": f"{at.address}/{ARTICLES.name}/{article_id}",
        "lots": lots["data"],
        "has_more_lots": lots["next_cursor"] is not None,
        "serials": serials[:FIRST],
        "has_more_serials": len(serials) > FIRST,
        "last": await _movements(at, str(article_id), {}, most=10),
        "part_address": partial(of_part, at.address, article_id),
        "words": ledger_words.KINDS,
        "signed": ledger_words.signed,
    }


async def lots_of_record(at: Workplace, article_id: int, warehouse_id: int) -> dict[str, Any]:
    """Return the first lots of a stock record, and the address of the complete list."""
    query = {"warehouse_id": str(warehouse_id), "per_page": str(FIRST)}
    found = await at.need(part_actions.list_lots, path={"id": str(article_id)}, query=query, is_counted=True)
    return {
        "lots": found["data"],
        "has_more": found["next_cursor"] is not None,
        "address": f"{at.address}/{ARTICLES.name}/{article_id}/lots?warehouse_id={warehouse_id}",
        "part_address": partial(of_part, at.address, article_id),
    }
