"""The page that explains a stock quantity, now or at an earlier time.

The page shows the movements in words, a chart, and the documents that reserve the stock now.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, get_args
from urllib.parse import urlencode

from wmsd.base.problems import not_found
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.acts import Act
from wmsd.interfaces.pages.kit.addresses import of_part
from wmsd.interfaces.pages.kit.references import BY_ENTITY, BY_MOVEMENT, Referred, find_references, named_documents
from wmsd.interfaces.pages.kit.resources import BY_NAME
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text import moments
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.records import ledger_words
from wmsd.interfaces.pages.records.chart import chart_of
from wmsd.interfaces.pages.records.parts import lots_of_record
from wmsd.warehouse.counts.record_count import count_stock
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.stock import actions as stock
from wmsd.warehouse.stock.schema import MovementKind

PER_PAGE: Final = 50
STOCK: Final = BY_NAME["stock"]
CHOSEN: Final = ("kind", "after", "until")
"""The URL parameters that filter the list of movements."""


async def show(at: Workplace, request: web.Request) -> web.Response:
    path = {"id": request.match_info["id"]}
    given = request.query.get("at", "").strip()
    shown = request.query.get("shown", "")
    moment = shown if given and given == moments.for_browser(shown) else moments.of_browser(given)
    answer = await at.ask(stock.explain_stock, path=path, query={"at": moment} if given else {})
    errors = answer.body.get("errors", {}) if not answer.is_good else {}
    if errors:  # the page shows the error next to the field, with the current stock
        answer = await at.ask(stock.explain_stock, path=path, is_counted=True)
    explained = answer.needed()
    is_now = explained["holders"] is not None
    documents = await named_documents(at, _caused_by(explained))
    return page_of(
        at,
        "why",
        STOCK.name,
        status=422 if errors else 200,
        stock=explained,
        acts=_acts(at, explained) if is_now else [],
        done=STOCK.message_for(request.query.get("done", "")),
        is_now=is_now,
        labels=f"{request.path}/labels",
        given=given if errors else "" if is_now else moments.for_browser(explained["at"]),
        errors=errors.get("at", ()),
        minutes={name: moments.minutes(explained[name]) for name in ("created_at", "at", "now")},
        earlier=moments.earlier(explained["at"], explained["created_at"]),
        beginning=ledger_words.beginning(explained),
        terms=ledger_words.terms(explained),
        count=explained["count"] and ledger_words.count_sentence(explained, documents),
        sentences=ledger_words.sentences(explained, documents),
        movements=f"{request.path}/movements",
        range={"after": explained["after"], "until": explained["until"]},
        chart=chart_of(explained["levels"], explained["at"], explained["min_stock"]),
        holders=await _holders(at, path) if is_now else [],
        lots=await lots_of_record(at, explained["article_id"], explained["warehouse_id"]) if is_now else None,
    )


def _caused_by(explained: Mapping[str, Any]) -> Iterator[tuple[DocumentKind, int]]:
    """Yield the kind and the id of each document that the explanation names."""
    count = explained["count"]
    if count is not None and count["document_id"] is not None:
        yield BY_MOVEMENT["count"], count["document_id"]
    for group in explained["groups"]:
        if group["kind"] in BY_MOVEMENT:
            yield from ((BY_MOVEMENT[group["kind"]], document_id) for document_id in group["document_ids"])


def _acts(at: Workplace, record: Mapping[str, Any]) -> list[Act]:
    """Return the actions that the person may run on the stock record.

    If the person may book a count directly, leave out the action that creates a count document.
    """
    acts = at.acts(STOCK, record)
    return [act for act in acts if not (act.leads_to and any(each.operation is count_stock for each in acts))]


async def show_movements(at: Workplace, request: web.Request) -> web.Response:
    stock_id = request.match_info["id"]
    given = {name: request.query[name] for name in CHOSEN if request.query.get(name, "0") != "0"}
    sent = {**given, "per_page": str(PER_PAGE)}
    if request.query.get("cursor"):
        sent["cursor"] = request.query["cursor"]
    answer = await at.ask(stock.list_stock_movements, path={"id": stock_id}, query=sent)
    if not answer.is_good and "errors" not in answer.body:
        answer.needed()
    found = answer.body if answer.is_good else {"data": [], "next_cursor": None}
    records = (await at.need(stock.find_stock, query={"ids": stock_id}, is_counted=True))["data"]
    if not records:
        raise not_found("stock record")
    kinds = {each["kind"]: BY_MOVEMENT.get(each["kind"]) for each in found["data"]}
    cursor = found["next_cursor"]
    return page_of(
        at,
        "movements",
        STOCK.name,
        status=answer.status,
        record=records[0],
        movements=found["data"],
        errors={} if answer.is_good else answer.body["errors"],
        kinds=get_args(MovementKind),
        words=ledger_words.KINDS,
        part_address=partial(of_part, at.address, records[0]["article_id"]),
        signed=ledger_words.signed,
        given=given,
        documents_of={kind: of_kind.name for kind, of_kind in kinds.items() if of_kind is not None},
        documents=await named_documents(
            at,
            (
                (BY_MOVEMENT[each["kind"]], each["document_id"])
                for each in found["data"]
                if each["document_id"] is not None and each["kind"] in BY_MOVEMENT
            ),
        ),
        after=f"{request.path}?{urlencode({**given, 'cursor': cursor})}" if cursor else None,
    )


async def _holders(at: Workplace, path: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the open documents that reserve the stock, with their partners."""
    holders = (await at.need(stock.list_stock_holders, path=path, is_counted=True))["data"]
    kinds: dict[str, DocumentKind] = {each["kind"]: BY_ENTITY[each["kind"]] for each in holders}
    documents = await named_documents(at, ((kinds[each["kind"]], each["id"]) for each in holders))
    shown = [{**each, "document": documents[kinds[each["kind"]].name, each["id"]]} for each in holders]
    records = [each["document"].record for each in shown if each["document"].record is not None]
    partners: Referred = {}
    for kind in kinds.values():
        fields = BY_NAME[kind.name].fields
        partners = {**partners, **await find_references(at, [fields["partner_id"]], records)}
    for each in shown:
        record = each["document"].record
        each["partner"] = None if record is None else partners.get(("partner_id", record["partner_id"]))
    return shown
