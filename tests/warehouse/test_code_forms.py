"""A new code is refused if it differs from an existing code only by its Unicode form."""

import unicodedata
from collections.abc import Mapping
from typing import Any

import pytest

from tests.interfaces.pages.administering import errors
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import signed_in
from tests.support.shop import Shop
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.code_forms import form_errors
from wmsd.warehouse.similar_codes import keys_of

COMPOSED = "Crème-1"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
FORMS = [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)]
ARTICLE = {"name": "Cream"}
ORDER = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1}]}
CREATE = "mutation ($input: ArticleInput!) { create_article(input: $input) { id } }"


def only_by_form(noun: str) -> str:
    return f"looks like the code of another {noun}, but has other Unicode characters: choose a different code"


@pytest.mark.parametrize(("there", "new"), FORMS, ids=["composed is there", "decomposed is there"])
@pytest.mark.parametrize(
    ("path", "noun", "body"),
    [("/api/articles", "article", ARTICLE), ("/api/sales-orders", "sales order", ORDER)],
)
async def test_it_is_refused_in_requests(
    shop: Shop, path: str, noun: str, body: Mapping[str, Any], there: str, new: str
) -> None:
    made = await shop.world.send("POST", path, {**body, "code": there})
    refused = await shop.world.call("POST", path, {**body, "code": new}, status=422)
    assert refused.errors == {"code": [only_by_form(noun)]}
    other = await shop.world.send("POST", path, {**body, "code": "X"})
    assert (made.status, other.status) == (201, 201)
    refused = await shop.world.call("PATCH", f"{path}/{other.id}", {"code": new}, status=422)
    assert refused.errors == {"code": [only_by_form(noun)]}
    renamed = await shop.world.send("PATCH", f"{path}/{made.id}", {"code": new})
    assert renamed.body["code"] == new  # a record may change the form of its own code


async def test_it_is_refused_in_graphql(shop: Shop) -> None:
    body = {**ARTICLE, "code": COMPOSED}
    await shop.world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    asked = {"query": CREATE, "variables": {"input": {**ARTICLE, "code": DECOMPOSED}}}
    answer = await shop.world.call("POST", "/api/graphql", asked)
    (error,) = answer.body["errors"]
    assert error["extensions"]["errors"] == {"code": [only_by_form("article")]}


@pytest.mark.parametrize("kind", ["clients", "partners", "warehouses", "packaging-types"])
async def test_it_is_refused_at_the_pages(shop: Shop, kind: str) -> None:
    visitor = await signed_in(shop.world)
    typed = {"code": COMPOSED, "name": "One", **({"type": "CLIENT"} if kind == "partners" else {})}
    made = await sent(visitor, f"/companies/1/{kind}/new", **typed)
    assert made.status == 303, made.text
    refused = await sent(visitor, f"/companies/1/{kind}/new", **{**typed, "code": DECOMPOSED})
    noun = kind.removesuffix("s").replace("-", " ")
    assert await errors(refused) == [f"Code {only_by_form(noun)}."]
    changed = await sent(visitor, f"{made.goes_to.partition('?')[0]}/change", name="Two")
    assert changed.status == 303, changed.text


@pytest.mark.parametrize(
    ("kind", "noun", "columns", "cells"),
    [
        ("articles", "article", "name", "A"),
        ("clients", "client", "name", "A"),
        ("partners", "partner", "name,type", "A,CLIENT"),
        ("packaging-types", "packaging type", "name", "A"),
        ("packaging-movements", "movement", "packaging_type_code,partner_code,direction,quantity", "PAL,P1,OUT,1"),
        ("sales-orders", "sales order", "partner_code,warehouse_code,article_code,quantity", "P1,MAIN,A,1"),
    ],
)
async def test_it_is_refused_in_files(shop: Shop, kind: str, noun: str, columns: str, cells: str) -> None:
    await shop.world.import_csv("packaging-types", "code,name\nPAL,Pallet\n")
    told = [(3, "code", only_by_form(noun))]
    with pytest.raises(ImportRefused) as refused:
        await shop.world.import_csv(kind, f"code,{columns}\n{COMPOSED},{cells}\n{DECOMPOSED},{cells}\n")
    assert [(each.line, each.column, each.sentence) for each in refused.value.outcome.errors.first] == told
    await shop.world.import_csv(kind, f"code,{columns}\n{COMPOSED},{cells}\n")
    with pytest.raises(ImportRefused) as refused:
        await shop.world.import_csv(kind, f"code,{columns}\nX,{cells}\n{DECOMPOSED},{cells}\n")
    assert [(each.line, each.column, each.sentence) for each in refused.value.outcome.errors.first] == told
    again = await shop.world.import_csv(kind, f"code,{columns}\n{COMPOSED},{cells}\n")
    assert again.rows == 1


async def test_a_code_in_ascii_costs_no_look(shop: Shop) -> None:
    def look(tx: Transaction) -> list[str]:
        return [*form_errors(tx, "no_such_table", "x", "BOLT-8"), *form_errors(tx, "no_such_table", "x", None)]

    assert await (await shop.world.database()).read(look) == []


def test_a_code_in_another_form_is_the_one_that_was_meant() -> None:
    assert keys_of(DECOMPOSED) == keys_of(COMPOSED) != keys_of("Creme-1")
