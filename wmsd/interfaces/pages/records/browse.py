"""The records of a company: lists with filters, and the page of each record."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from wmsd.base.problems import Problem, or_not_found
from wmsd.contract.access import has_role
from wmsd.contract.field_schemas import properties_of
from wmsd.imports.actions import begin_upload
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import filters
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.changes import changes_of
from wmsd.interfaces.pages.kit.fields import REFERRING, Field, fields_of, with_content
from wmsd.interfaces.pages.kit.form_fields import HIDDEN
from wmsd.interfaces.pages.kit.references import find_references
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.resources import BY_NAME, RESOURCES
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.workplace import CompanyWorkplace, Workplace
from wmsd.interfaces.pages.paper.label_kinds import FOUND_BY, LABELS
from wmsd.interfaces.pages.records.document_page import HISTORY, of_document
from wmsd.interfaces.pages.records.downloads import EXPORTS, FOR_IMPORT, FORMAT, PLACE
from wmsd.interfaces.pages.records.parts import ARTICLES, of_article
from wmsd.interfaces.pages.records.rules import rules_of
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.tenants.companies.company_administration import AUDIT
from wmsd.warehouse.search.part_filters import MOST_FOUND

PER_PAGE: Final = 50
FINDS: Final = {"partner": "partners", "article": "articles"}
"""Filters that suggest records while a person types. The value is the kind of these records."""
MOST_UNDER: Final = 20
"""The maximum number of records in a list on the page of another record. A longer list shows only its first
records.
"""
LAST: Final = ("created_at", "updated_at")
ARTICLE: Final = "article_id"
ROUTE_OF: Final = {route.operation.name: route for route in (*V2, *V1)}
TRIED_AT: Final = {
    route.operation.name: f"/try/{version}/{route.operation.name}"
    for version, routes in (("v2", V2), ("v1", V1))
    for route in routes
}
"""The addresses of the pages for trying out operations, by the name of the operation."""
FACTOR: Final = "um3pl_factor"


async def show_first(at: Workplace, request: web.Request) -> web.Response:
    """Redirect to the first list that the person may read here. Raise Problem (403) if there is none."""
    if not at.resources:
        raise Problem(
            "FORBIDDEN",
            f"You cannot read any data of the company {at.name} yet. Ask a platform admin for abilities.",
        )
    return go_to(f"{at.address}/{at.resources[0].name}")


async def show(at: Workplace, request: web.Request) -> web.Response:
    resource = at.resource(request.match_info["resource"])
    asked = await filters.read(at, resource, request.query)
    orders, may_not = _orders(resource), at.permissions.objection
    ordered = {"sort": resource.sort} if resource.sort.lstrip("-") in orders else {}
    query = {**ordered, **asked.query, "per_page": str(PER_PAGE)}
    answer = await at.ask(resource.listing, query=query, is_brief=True, within=asked.within)
    wrong = {} if answer.is_good else answer.body.get("errors", {})
    if not answer.is_good and not wrong:  # not the filters: the company may just have been deleted
        answer.needed()
    errors = {**wrong, **asked.errors}
    body: Mapping[str, Any] = {"data": []} if errors else answer.body
    is_filtered = any(request.query.get(each.name) for each in filters.filters_of(resource))
    return page_of(
        at,
        "list",
        resource.name,
        status=422 if errors else 200,
        resource=resource,
        done=resource.message_for(request.query.get("done", "")),
        records=body["data"],
        referred=await find_references(at, resource.listed, body["data"]),
        total=body.get("meta", {}).get("total"),
        filters=[each for each in filters.filters_of(resource) if not may_not(resource.listing, [each.name])],
        given=request.query,
        is_cut=asked.is_cut,
        is_damaged=asked.is_damaged,
        most_found=MOST_FOUND,
        finds=FINDS,
        is_filtered=is_filtered,
        hides_all=not errors and not body["data"] and is_filtered and await _has_any(at, resource),
        import_at=_import_at(at, resource),
        errors=errors,
        orders=orders,
        sort=query.get("sort"),
        pages=_pages(request, body),
        csv=csv_of(at, resource, request.query),
        bulk_acts=at.bulk_acts(resource),
        labels_at=f"{request.path}/labels" if resource.name in FOUND_BY else None,
        bulk_at=_address(f"{request.path}/bulk", request.query),
        sorted_by=lambda order: _address(request.path, {**request.query, "sort": order}),
    )


async def show_record(at: Workplace, request: web.Request) -> web.Response:
    resource = at.resource(request.match_info["resource"])
    one = or_not_found(resource.one, "page")
    answer = await at.ask(one, path={"id": request.match_info["id"]})
    record = answer.needed()
    fields = list(resource.fields.values())
    route = ROUTE_OF.get(one.name)
    referred = await find_references(at, fields, [record])
    changes = await changes_of(at, resource, record["id"])
    done = request.query.get("done", "")
    of_kind = await of_document(at, resource, answer, referred, done) if resource.path else {}
    return page_of(
        at,
        "document" if resource.path else "record",
        resource.name,
        resource=resource,
        done=resource.message_for(request.query.get("done", "")),
        record=record,
        referred=referred,
        facts=sorted(
            (each for each in fields if _is_fact(resource, each, record)), key=lambda each: each.name in LAST
        ),
        tables=[
            (field, with_content(_columns(at, field), record[field.name]))
            for field in fields
            if field.kind == "table" and record.get(field.name) and not (changes and field.name == HISTORY)
        ],
        under=await _records_under(at, resource, record),
        beside=await _beside(at, resource, record["id"]),
        goods=await of_article(at, record["id"]) if resource is ARTICLES else None,
        tried_at=TRIED_AT.get(one.name),
        audit_at=audit_of(at, resource, record),
        rules=await rules_of(at, resource, record["id"]),
        changes=changes and {**changes, "fields": with_content(changes["fields"], changes["records"])},
        has_labels=resource.name in LABELS,
        path=None if route is None else route.path.replace("{id}", str(record["id"])),
        **of_kind,
    )


async def _beside(at: Workplace, resource: Resource, record_id: int) -> list[Mapping[str, Any]]:
    """Return the additional lists on the page of a record (see `Resource.beside`). Leave out empty lists, and
    lists that the person may not read.

    Each list has `title`, `fields` (the columns), `records` and `referred` (the records to which the listed
    records refer).
    """
    found: list[Mapping[str, Any]] = []
    for title, listing in resource.beside:
        if not at.may(listing):
            continue
        records = (await at.need(listing, path={"id": str(record_id)}, is_counted=True))["data"]
        assert listing.returns is not None
        fields = list(fields_of(listing.returns).values())
        referred = await find_references(at, fields, records)
        found += [{"title": title, "fields": fields, "records": records, "referred": referred}] if records else []
    return found


async def _records_under(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return lists of other records that belong to this record, such as an article's stock (see `Resource.under`).

    If the record is a document, leave out empty lists.
    """
    others = [(BY_NAME[name], filtered) for name, filtered in resource.under]
    found = [await _under(at, each, filtered, record) for each, filtered in others if at.may(each.listing)]
    return [each for each in found if each["records"] or not resource.path]


async def _under(at: Workplace, other: Resource, filtered: str, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the records of the resource `other` that belong to `record`. `filtered` is the name of the filter
    that selects these records.

    The result has these fields:
    - `resource`: the resource `other`.
    - `fields`: the columns, without columns about `record`.
    - `records`: the first records, at most `MOST_UNDER`.
    - `referred`: the records to which these records refer.
    - `address`: the address of the whole list.
    - `open_at`: the address of the list of unfinished documents. None if the records are not documents.
    - `total`: the number of records. None if the list does not count its records.
    - `has_more`: True if there are more records than `records` has.
    - `is_open_only`: True if `records` has only unfinished documents.

    If `record` is an article and `other` has an operation `of_article`, `records` has only unfinished documents,
    each with the quantity of this article.
    """
    key, is_by_id = filtered.removesuffix("_code"), filtered in REFERRING
    ordered = {"sort": other.sort} if other.sort.lstrip("-") in _orders(other) else {}
    query = {filtered: str(record["id"]) if is_by_id else record["code"], **ordered, "per_page": str(MOST_UNDER)}
    is_open = {"status": ",".join(other.open_statuses)}
    is_of_article = filtered == ARTICLE and other.of_article is not None
    if is_of_article:
        query |= is_open
    found = await at.need(other.listing, query=query, is_counted=True, is_brief=True)
    total = found.get("meta", {}).get("total")
    fields = [field for field in other.listed if field.name != filtered and not field.name.startswith(f"{key}_")]
    asked = {REFERRING[filtered].name if is_by_id else filtered: record["code"]}
    address = f"{at.address}/{other.name}"
    records = found["data"]
    if is_of_article:
        records = await _with_amounts(at, other, records, record["id"])
        fields = [each for field in fields for each in ([AMOUNT] if field.name in AMOUNT_FOR else [field])]
    return {
        "resource": other,
        "fields": fields,
        "records": records,
        "is_open_only": is_of_article,
        "referred": await find_references(at, fields, found["data"]),
        "address": f"{address}?{urlencode(asked)}",
        "open_at": f"{address}?{urlencode({**asked, **is_open}, safe=',')}" if other.open_statuses else None,
        "has_more": found["next_cursor"] is not None if total is None else total > MOST_UNDER,
        "total": total,
    }


AMOUNT: Final = Field("quantity", "number")
AMOUNT_FOR: Final = ("lines", "items")


async def _with_amounts(
    at: Workplace, other: Resource, records: Sequence[Mapping[str, Any]], article_id: int
) -> list[Mapping[str, Any]]:
    """Return the documents `records`, each with the quantity of the article that it contains."""
    assert other.of_article is not None
    if not records:
        return []
    query = {"ids": ",".join(str(each["id"]) for each in records), "article_id": str(article_id)}
    found = (await at.need(other.of_article, query=query, is_counted=True))["data"]
    amounts = {each["id"]: each["quantity"] for each in found}
    return [{**each, "quantity": amounts.get(each["id"])} for each in records]


def csv_of(at: Workplace, resource: Resource, query: Mapping[str, str]) -> dict[str, str | None]:
    """Return the addresses of two CSV files. Both contain the records of the list.

    The file `plain` is for spreadsheets. The file `for_import` can be imported later. It is None if the person may
    not import.
    """
    path, exporting = f"{at.address}/{resource.name}.csv", EXPORTS.get(resource.name)
    may_import = exporting is not None and resource in at.ALL and at.may(exporting)
    return {
        "plain": _address(path, query),
        "for_import": _address(path, query, **{FORMAT: FOR_IMPORT}) if may_import else None,
    }


AUDIT_KEYS: Final = {"users": "email", "companies": "code", "operators": "code"}
"""For each kind of record of the installation: the field whose value is the name of the record in the audit."""


def audit_of(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> str | None:
    """Return the address of the audit's entries about `record`.

    Return None if the person may not read the audit, or if the audit has no entries for this kind of record.
    """
    if not has_role(at.person.role, AUDIT.by_page.role or "platform-admin"):
        return None
    if isinstance(at, CompanyWorkplace):
        of_record = {"record": f"{at.id}/{resource.audited}/{record['id']}"} if resource.audited else None
    else:
        of_record = {"subject": record[AUDIT_KEYS[resource.name]]} if resource.name in AUDIT_KEYS else None
    return None if of_record is None else f"/admin/audit?{urlencode(of_record)}"


async def _has_any(at: Workplace, resource: Resource) -> bool:
    """Return True if there is any record that the person may read, even one that does not match the filters of the
    page.
    """
    found = await at.need(resource.listing, query={"per_page": "1"}, is_counted=True)
    return bool(found["data"])


def _import_at(at: Workplace, resource: Resource) -> str | None:
    """Return the address of the form that imports records of this kind from a file.

    Return None if such records cannot be imported, or if the person may not import files.
    """
    if resource not in RESOURCES or resource.name not in EXPORTS or not at.may(begin_upload):
        return None
    return f"{at.address}/imports/new?kind={resource.name}"


def _is_fact(resource: Resource, field: Field, record: Mapping[str, Any]) -> bool:
    """Return True if the page shows the field in the list of values below the heading.

    This is not the case for tables, empty fields, fields that the heading already shows, and the number of units
    in a receiving unit if the article has no receiving unit.
    """
    said = ("id", "name", resource.key, *(["status"] if resource.path else []))
    if field.name == FACTOR and not record.get("unit_3pl"):
        return False
    return field.kind != "table" and field.name not in said and record.get(field.name) not in (None, [])


def _columns(at: Workplace, table: Field) -> list[Field]:
    """Return the columns for the lines of a record. `table` is the field with the lines.

    Leave out ids that no other page shows. If the person may read articles, also leave out the code of the
    article, because the link to the article shows the code.
    """
    by_article = any(field.name == ARTICLE for field in table.of) and at.may(REFERRING[ARTICLE].find)
    said = {*HIDDEN, *(["article_code"] if by_article else [])}
    return [field for field in table.of if field.name not in said]


def _orders(resource: Resource) -> list[str]:
    """Return the fields by which a list can be ordered."""
    sort = properties_of(filters.query_of(resource)).get("sort", {})
    return [order for order in sort.get("enum", ()) if not order.startswith("-")]


def _address(path: str, query: Mapping[str, str], **changes: object) -> str:
    """Return the address of the list with the filters in `query` and the parameters in `changes`.

    The address leads to the beginning of the list, unless `changes` has a page or a cursor.
    """
    kept = {name: value for name, value in query.items() if value and name not in PLACE}
    sent = urlencode({**kept, **changes})
    return f"{path}?{sent}" if sent else path


def _pages(request: web.Request, body: Mapping[str, Any]) -> dict[str, object]:
    """Return the values for the links between the pages of a list:
    - `before` and `after`: the addresses of the previous and the next page. None if there is no such page.
    - `first` and `last`: the numbers of the first and last record on this page. If they are not known, `first` is
      None and `last` is missing.
    - `beyond`: None, unless the list ends before this page. Then it has three values: the number of this page, and
      the number and the address of the last page.
    """
    if "meta" in body:
        meta = body["meta"]
        first = (meta["current_page"] - 1) * meta["per_page"] + 1
        last = first + len(body["data"]) - 1
        if not body["data"] and meta["current_page"] > 1:
            last_page = max(1, -(-meta["total"] // meta["per_page"]))
            beyond = meta["current_page"], last_page, _address(request.path, request.query, page=last_page)
            return {"beyond": beyond, "first": None, "before": None, "after": None}
        return {
            "beyond": None,
            "first": first,
            "last": last,
            "before": _address(request.path, request.query, page=meta["current_page"] - 1)
            if meta["current_page"] > 1
            else None,
            "after": _address(request.path, request.query, page=meta["current_page"] + 1)
            if last < meta["total"]
            else None,
        }
    cursor = body.get("next_cursor")
    return {
        "beyond": None,
        "first": None,
        "before": _address(request.path, request.query) if request.query.get("cursor") else None,
        "after": _address(request.path, request.query, cursor=cursor) if cursor else None,
    }
