"""The use case of the search box."""

from typing import Any

from wmsd.contract.access import Whitelist
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import operation
from wmsd.contract.permissions import Permissions
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.search.hits import find_records
from wmsd.warehouse.search.schema import SearchQuery, SearchResults
from wmsd.warehouse.search.search_kinds import KINDS


@operation(tag="Company", answer="object", returns=SearchResults, module=None)
def search_company(tx: Transaction, query: SearchQuery, caller: Caller, company: Company) -> dict[str, Any]:
    """Find records, lots and serials by a code, a name, or a part of one.

    Only what the caller may list is found: exact matches first, then beginnings, then parts, the newest first.
    """
    permissions = Permissions(
        caller.role,
        caller.abilities,
        tx.service(Whitelist).abilities,
        company.modules,
        is_person=caller.session_id is not None,
    )
    kinds = [kind for kind in KINDS if permissions.objection(kind.listing) is None]
    found = find_records(tx, kinds, query.text)
    return {
        "data": [each.model_dump() for each in found.hits],
        "has_more": found.has_more,
        "is_behind": found.is_behind,
    }
