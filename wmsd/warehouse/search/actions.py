"""The operations of the search box, and of form fields that suggest records while a user types."""

from typing import Any, Final

from wmsd.base.problems import forbidden, not_found
from wmsd.base.strict_json import dumps
from wmsd.contract.access import Whitelist
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import operation
from wmsd.contract.permissions import Permissions
from wmsd.contract.results import Records
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.search.hits import ARTICLES_OF_CODES, CHOICES_OF, find_active, find_records
from wmsd.warehouse.search.index_damage import DamagedIndexes
from wmsd.warehouse.search.part_filters import find_by_part, stock_of
from wmsd.warehouse.search.schema import (
    MOST_CODES,
    ArticleOfCode,
    ArticlesOfCodesQuery,
    Choice,
    ChoiceQuery,
    IdsByPart,
    PartQuery,
    SearchQuery,
    SearchResults,
)
from wmsd.warehouse.search.search_kinds import BY_NAME, SearchKind
from wmsd.warehouse.stock.actions import list_stock

STOCK: Final = "stock"


@operation(tag="Company", answer="object", returns=SearchResults, module=None)
def search_company(tx: Transaction, query: SearchQuery, caller: Caller, company: Company) -> dict[str, Any]:
    """Find records, lots and serials.

    The search text is a code or a name, or a part of one. Only records that the caller may list are found. Exact
    matches come first, then matches at the beginning of a field, then all other matches. In each of these groups,
    the newest records come first.
    """
    found, damaged = find_records(tx, _permissions(tx, caller, company), query.text), tx.service(DamagedIndexes)
    if found.is_damaged:
        damaged.note(company.id)
    return {
        "data": [each.model_dump() for each in found.hits],
        "has_more": found.has_more,
        "is_behind": found.is_behind,
        "is_being_rebuilt": company.id in damaged.noted(),
    }


@operation(tag="Company", answer="records", returns=Choice, module=None)
def find_choices(tx: Transaction, query: ChoiceQuery, caller: Caller, company: Company) -> Records:
    """Find active records for a form.

    Articles come with their unit. Callers who may list stock also get the available quantity.
    """
    permissions, kind = _permissions(tx, caller, company), BY_NAME[query.kind]
    assert isinstance(kind, SearchKind)
    if permissions.objection(kind.listing) is not None:
        return Records("")
    ids, is_damaged = find_active(tx, kind, query.text)
    if is_damaged:
        tx.service(DamagedIndexes).note(company.id)
    asked = {
        "ids": dumps(ids),
        "warehouse_id": query.warehouse_id,
        "sees_stock": permissions.objection(list_stock) is None,
    }
    return Records(",".join(text for (text,) in tx.rows(CHOICES_OF[query.kind], asked)))


@operation(tag="Articles", answer="records", returns=ArticleOfCode, module="articles", ability="articles:read")
def find_articles_of_codes(
    tx: Transaction, query: ArticlesOfCodesQuery, caller: Caller, company: Company
) -> Records:
    """Find articles by their codes.

    The articles have no particular order. Inactive articles are found too. Callers who may list stock also get the
    available quantity of each article.
    """
    asked = {
        "codes": dumps(query.codes.split("\n")[:MOST_CODES]),
        "warehouse_id": query.warehouse_id,
        "sees_stock": _permissions(tx, caller, company).objection(list_stock) is None,
    }
    return Records(",".join(text for (text,) in tx.rows(ARTICLES_OF_CODES, asked)))


@operation(tag="Company", answer="object", returns=IdsByPart, module=None)
def find_ids_by_part(tx: Transaction, query: PartQuery, caller: Caller, company: Company) -> dict[str, Any]:
    """Find the ids of records by a part of a field.

    The caller must be allowed to list records of this kind.
    """
    is_of_stock = query.kind == STOCK
    kind = BY_NAME.get("articles" if is_of_stock else query.kind)
    if not isinstance(kind, SearchKind) or query.field not in kind.texts:
        raise not_found("filter")
    listing = list_stock if is_of_stock else kind.listing
    if objection := _permissions(tx, caller, company).objection(listing):
        raise forbidden(objection)
    found, is_damaged = find_by_part(tx, kind, query.field, query.text)
    if is_damaged:
        tx.service(DamagedIndexes).note(company.id)
    return {**(stock_of(tx, found) if is_of_stock else found)._asdict(), "is_damaged": is_damaged}


def _permissions(tx: Transaction, caller: Caller, company: Company) -> Permissions:
    in_force, is_person = tx.service(Whitelist).abilities, caller.session_id is not None
    return Permissions(caller.role, caller.abilities, in_force, company.modules, is_person=is_person)
