"""The completion of names, run by Node: the suggestions at `|`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import program
from wmsd.interfaces.graphql.schema import schema
from wmsd.interfaces.pages.kit.assets import FOLDER
from wmsd.interfaces.reference.graphql_types import short

RUN = """
import { readFileSync } from "node:fs";
import { suggestions, variableSuggestions } from "./graphql.mjs";

const schema = JSON.parse(readFileSync("schema.json", "utf-8"));
const found = JSON.parse(readFileSync(0, "utf-8")).map(([text, document]) => {
  const at = text.indexOf("|");
  const whole = text.slice(0, at) + text.slice(at + 1);
  return document === null ? suggestions(schema, whole, at) : variableSuggestions(schema, document, whole, at);
});
console.log(JSON.stringify(found));
"""
QUERY = set(short(schema())["types"]["Query"]) | {"__typename"}
ARTICLE = set(short(schema())["types"]["Article"]) | {"__typename"}
ORDER = "mutation M($order: SalesOrderInput!, $id: ID!) { create_sales_order(input: $order) { id } }"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("completion")
    (made / "graphql.mjs").write_bytes((FOLDER / "graphql.js").read_bytes())
    (made / "run.mjs").write_text(RUN)
    (made / "schema.json").write_text(json.dumps(short(schema())))
    return made


def suggested(folder: Path, *texts: tuple[str, str | None]) -> list[Any]:
    ran = subprocess.run(
        [program("node"), "run.mjs"],
        cwd=folder,
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    found: list[Any] = json.loads(ran.stdout)
    return found


CASES: dict[str, set[str]] = {
    "|": {"query", "mutation", "fragment"},
    "mu|": {"mutation"},
    "{ | }": QUERY,
    "{ arti|": {"article", "articles", "article_changes"},
    "query Q { | }": QUERY,
    "mutation { create_a| }": {"create_article"},
    "{ articles(first: 1) { nod| } }": {"nodes"},
    "{ articles(first: 1) { nodes { | } } }": ARTICLE,
    "{ articles(first: 1) { nodes { stock { warehouse { cod| } } } } }": {"code"},
    "{ a: articles(first: 1) { nodes { code name min_s| } } }": {"min_stock"},
    "{ articles(first: 1, bar| }": {"barcode"},
    "{ articles(fi|": {"first"},
    '{ articles(search: "{ nodes {", fi|': {"first"},
    '{ articles(search: """} " {""", fi|': {"first"},
    '{ articles(search: "fi|") }': set(),
    "{ articles # fi|": set(),
    "# {\n{ arti|": {"article", "articles", "article_changes"},
    "mutation { create_sales_order(input: {partner_|": {"partner_id"},
    "mutation { create_sales_order(input: {partner_id: 1, lines: [{quant|": {"quantity"},
    "mutation { create_sales_order(input: {partner_id: 1, lines: [{quantity: 2}], ship_to: {cit|": {"city"},
    "mutation { create_sales_order(input: {status: IN_L|": {"IN_LUCRU"},
    "query Q($first: Int!, $other: ID) { articles(first: $fir|": {"first"},
    "query Q($first: Int!, $other: ID) { articles(first: $|": {"first", "other"},
    "mutation M($order: SalesOrderInp|": {"SalesOrderInput"},
    "query Q($order: |": set(short(schema())["inputs"]) | set(short(schema())["enums"]),
    "fragment F on Artic|": {"Article", "ArticleConnection", "ArticleEdge"},
    "fragment F on Article { min_s|": {"min_stock"},
    "{ article(id: 1) { ... on Article { min_s|": {"min_stock"},
    "{ article(id: 1) { ...F } } |": {"query", "mutation", "fragment"},
    "{ article(id: 1) { code @inc| } }": {"include"},
    "}}}))) {{{ |": QUERY,
    "{ nothing { | } }": {"__typename"},
}


def test_names_at_each_place_of_a_document(folder: Path) -> None:
    found = suggested(folder, *((text, None) for text in CASES))
    wrong = {}
    for (text, expected), each in zip(CASES.items(), found, strict=True):
        if set(each["names"]) != set(sorted(expected)[:1000]) and len(expected) <= 50:
            wrong[text] = each["names"]
    assert wrong == {}


VARIABLES: dict[str, set[str]] = {
    '{"|': {"order", "id"},
    '{"or|': {"order"},
    '{"id": "|': set(),
    '{"order": {"status": "IN_L|': {"IN_LUCRU"},
    '{"order": {"status": "CREAT", "par|': {"partner_id"},
    '{"order": {"notes": "a: {", "par|': {"partner_id"},
    '{"order": {"partner_|': {"partner_id"},
    '{"order": {"partner_id": 1, "lines": [{"quantity": 1}, {"article_|': {"article_id", "article_code"},
    '{"order": {"lines": [{"quantity": 1}], "ship_to": {"cit|': {"city"},
    '{"order": {"ship_to": {"city": "x"}}, "i|': {"id"},
    "{|": set(),
    "|": set(),
    ']]}}{"|': {"order", "id"},
}


def test_names_in_the_variables(folder: Path) -> None:
    found = suggested(folder, *((text, ORDER) for text in VARIABLES))
    named = {text: set(each["names"]) for text, each in zip(VARIABLES, found, strict=True)}
    assert named == VARIABLES


def test_a_long_document_takes_no_long_time(folder: Path) -> None:
    """A regular expression with backtracking would take minutes for each of these documents."""
    texts = [
        "{" * 60_000 + "|",
        '"' * 60_000 + "|",
        '"""' + '\\"""' * 15_000 + "|",
        "#" * 60_000 + "|",
        "a:" * 30_000 + "|",
    ]
    assert len(suggested(folder, *((text, None) for text in texts))) == len(texts)
