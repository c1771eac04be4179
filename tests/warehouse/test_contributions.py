"""Everything that a package declares for other packages is used. The test names a forgotten declaration."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

import wmsd
from wmsd.contract.operation import Operation
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.graphql.over_http import ROUTES as GRAPHQL
from wmsd.interfaces.graphql.root_fields import COLLECTIONS, MUTATIONS, QUERIES
from wmsd.interfaces.pages.records.downloads import EXPORTS
from wmsd.interfaces.service import SERVED
from wmsd.maintenance.file_checks.company_checks import CHECKS
from wmsd.warehouse.contributions import DEPENDENTS, OBSTACLES
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.references_by_id import REFERENCES

NOT_ASKED_FOR = {f"find_{kind.table.name}" for kind in DOCUMENTS} | {"list_counts"}
"""Every kind has the operation, but GraphQL requests only the kinds that other kinds refer to. Version 1 has no
counts: the list with pages is for people.
"""

NEED_NO_ABILITY = {
    *("run_batch", "list_requests", "get_request", "search_company", "find_choices", "find_ids_by_part"),
    *("get_papers", "get_logo"),
}
"""The operations without an ability. Each request in a batch needs its own ability. Every user may see the
requests of their own tokens. A search finds only records that the caller may list. Whoever prints a paper sees the
company's details on it.
"""


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(wmsd.__path__, "wmsd."):
        yield importlib.import_module(found.name)


@pytest.mark.parametrize(
    ("name", "gathered"),
    [("CHECKS", CHECKS), ("OBSTACLES", tuple(OBSTACLES.every)), ("DEPENDENTS", tuple(DEPENDENTS.every))],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_rooms_contribute_is_gathered(name: str, gathered: tuple[object, ...]) -> None:
    for module in modules():
        if module.__name__ not in ("wmsd.warehouse.contributions", "wmsd.installation.open_installation"):
            missing = [each for each in getattr(module, name, ()) if each not in gathered]
            assert missing == [], module.__name__


def test_every_kind_of_document_is_listed() -> None:
    declared = {id(each): each for module in modules() for each in vars(module).values()}
    kinds = [each for each in declared.values() if isinstance(each, DocumentKind)]
    assert sorted(kind.name for kind in kinds) == sorted(kind.name for kind in DOCUMENTS)
    assert {kind.name for kind in kinds} <= KINDS.keys()


def operations() -> list[Operation]:
    declared = {id(each): each for module in modules() for each in vars(module).values()}
    found = [each for each in declared.values() if isinstance(each, Operation)]
    return found + [each for kind in DOCUMENTS for each in kind.reading.operations]


def asked_by_pages() -> Iterator[Operation]:
    """Yield the operations that the code of the pages names."""
    for module in modules():
        if module.__name__.startswith("wmsd.interfaces.pages."):
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                match node:
                    case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                        named = getattr(vars(module).get(name), attribute, None)
                    case ast.Name(id=name):
                        named = vars(module).get(name)
                    case _:
                        continue
                if isinstance(named, Operation):
                    yield named


def test_every_operation_can_be_asked_for() -> None:
    served = {route.operation.name for route in (*SERVED, *GRAPHQL)}
    served |= {field.operation.name for field in (*QUERIES, *MUTATIONS)}
    served |= {each.name for each in (*asked_by_pages(), *EXPORTS.values())}
    served |= {each.find.name for each in REFERENCES} | {each.find.name for each in COLLECTIONS}
    assert {each.name for each in operations()} - served <= NOT_ASKED_FOR


def test_an_operation_that_needs_no_ability_is_named_here() -> None:
    """Every operation of a company that needs neither a role nor an ability is named here."""
    of_companies = [
        each for each in operations() if each.scope == "company" and each.signed_in and each.role is None
    ]
    assert {each.name for each in of_companies if each.ability is None} == NEED_NO_ABILITY
