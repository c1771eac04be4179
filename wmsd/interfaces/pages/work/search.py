"""The search of a company, in the box above every page. If only one record matches exactly, its page opens."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from wmsd.base.strict_json import dumps
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.addresses import of_part
from wmsd.interfaces.pages.kit.fields import name_of
from wmsd.interfaces.pages.kit.rendering import HEADERS, go_to
from wmsd.interfaces.pages.kit.resources import BY_NAME
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.words import grouped_number
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.platform.company_search import search_companies
from wmsd.request_history.actions import get_request
from wmsd.request_history.schema import LONGEST_ID
from wmsd.warehouse.search.actions import find_choices, search_company
from wmsd.warehouse.search.search_kinds import PARTS
from wmsd.warehouse.search.search_text import LONGEST

TEXT: Final = "text"
WAREHOUSE: Final = "warehouse"
PART_FIELDS: Final = {kind.name: kind.column for kind in PARTS}
NOTHING: Final[Mapping[str, Any]] = {"data": [], "has_more": False, "is_behind": False, "is_being_rebuilt": False}
NAMES: Final = {**{name: each.title for name, each in BY_NAME.items()}, "lots": "Lots", "serials": "Serials"}


async def show_all(at: Workplace, request: web.Request) -> web.Response:
    """Show the exact matches in all companies of the person. If there is only one, redirect to its page."""
    text = request.query.get(TEXT, "").strip()[:LONGEST]
    found = await at.need(search_companies, query={TEXT: text}) if text else NOTHING
    hits = [{**_shown(each), "place": f"/companies/{each['company_id']}"} for each in found["data"]]
    if len(hits) == 1:
        return go_to(f"{hits[0]['place']}/{hits[0]['address']}")
    return page_of(at, "search_all", "search", text=text, hits=hits, not_searched=found.get("not_searched", []))


async def show(at: Workplace, request: web.Request) -> web.Response:
    text = request.query.get(TEXT, "").strip()[:LONGEST]
    if not text:
        return page_of(at, "search", "search", text="", hits=[], found=NOTHING)
    found = await at.need(search_company, query={TEXT: text})
    hits = [*await _request(at, text), *map(_shown, found["data"])]
    exact = [each for each in hits if each["is_exact"]]
    if len(exact) == 1:
        return go_to(f"{at.address}/{exact[0]['address']}")
    return page_of(at, "search", "search", text=text, hits=hits, found=found)


def _shown(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hit with further values for the page.

    `address` is the address of the record, relative to the address of its company. `what` names the kind of
    record. `where` names the field in which the text was found, and is empty for codes and names.
    """
    field = PART_FIELDS.get(hit["kind"])
    is_plain = hit["found_in"] in ("code", "name") or field is not None
    return {
        **hit,
        "address": of_part("", hit["id"], field, hit["code"])[1:] if field else f"{hit['kind']}/{hit['id']}",
        "what": _(NAMES[hit["kind"]]),
        "where": "" if is_plain else name_of(hit["found_in"]),
    }


async def _request(at: Workplace, text: str) -> Sequence[dict[str, Any]]:
    """Return a list with the stored API request whose id is `text`. Return an empty list if there is no such
    request.
    """
    if len(text) > LONGEST_ID or not text.replace("-", "").isalnum() or not at.may(get_request):
        return []
    found = await at.ask(get_request, path={"request_id": text}, is_counted=True)
    if not found.is_good:
        return []
    request_id = found.body["id"]
    return [
        {
            "address": f"requests/{quote(request_id, safe='')}",
            "code": request_id,
            "says": found.body["path"],
            "status": None,
            "what": _("Requests"),
            "where": "",
            "is_exact": request_id == text,
        }
    ]


async def show_choices(at: Workplace, request: web.Request) -> web.Response:
    """Return suggestions for a field of a form, as JSON for the form's script.

    A suggestion has a code, a name, a unit and the available quantity.
    """
    text = request.query.get("text", "").strip()[:LONGEST]
    query = {"kind": request.match_info["kind"], "text": text}
    code, warehouses = request.query.get(WAREHOUSE, "").strip(), BY_NAME["warehouses"]
    if code and at.may(warehouses.listing):
        warehouse_id = await at.id_of(warehouses, code)
        query |= {} if warehouse_id is None else {"warehouse_id": str(warehouse_id)}
    found = (await at.need(find_choices, query=query))["data"] if text else []
    shown = [
        {
            **{name: each[name] for name in ("code", "name", "unit")},
            "available": None if each["available"] is None else grouped_number(each["available"]),
            "has_any": each["available"] is None or each["available"] > 0,
        }
        for each in found
    ]
    return web.Response(text=dumps(shown), content_type="application/json", headers=HEADERS)
