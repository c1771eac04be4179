"""A hostile document is refused before any part of it is executed, with a sentence that says what is allowed."""

import json
from urllib.parse import quote

import pytest

from tests.interfaces.graphql.catalogue import PATH, Catalogue
from tests.interfaces.graphql.hostile import HOSTILE, articles, each
from tests.support.statements import statements
from wmsd.interfaces.graphql.limits import text_excess

pytestmark = pytest.mark.asyncio(loop_scope="module")
LONGEST_ANSWER = 20_000


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_document_is_refused_and_nothing_of_it_done(catalogue: Catalogue, name: str) -> None:
    hostile = HOSTILE[name]
    with statements(catalogue.world) as run:
        answer = await catalogue.send(hostile.document, hostile.variables)
    assert answer.status == 200
    assert set(answer.body) == {"errors"}, answer.raw[:1000]
    errors = answer.body["errors"]
    assert hostile.says in errors[0]["message"]
    assert {error["extensions"]["code"] for error in errors} == {"VALIDATION_FAILED"}
    assert run == []
    assert len(answer.raw) < LONGEST_ANSWER


async def test_a_name_that_is_nearly_right_is_found(catalogue: Catalogue) -> None:
    for document, says in (
        ("{ artcles { nodes { id } } }", "Did you mean 'articles' or 'article'?"),
        ("{ sales_orders(status: CRET) { nodes { id } } }", "Did you mean the enum value 'CREAT'?"),
    ):
        (error,) = await catalogue.errors(document)
        assert says in error["message"]


async def test_a_client_that_asks_for_the_newer_media_type_is_told_400(catalogue: Catalogue) -> None:
    accept = {"Accept": "application/graphql-response+json"}
    answer = await catalogue.send(HOSTILE["900 braces"].document, headers=accept)
    assert (answer.status, answer.headers["Content-Type"]) == (
        400,
        "application/graphql-response+json; charset=utf-8",
    )


# --- unusual but harmless documents ----------------------------------------------------------------------------

HARMLESS = {
    "a comment of 19000 characters": "#" + "{" * 19_000 + "\n" + articles("id", "(first: 1)"),
    "19000 commas": "," * 19_000 + articles("id", "(first: 1)"),
    "a byte order mark": "\ufeff" + articles("id", "(first: 1)"),
    "brackets in a text": articles("id", f'(first: 1, search: "Alpha") @include(if: true) # {"{" * 100}\n'),
    "eight fields deep": "{ articles(first: 1) { nodes { stock { article { stock { warehouse { id } } } } } } }",
    "20 repeated fields": articles("id " * 21, "(first: 1)"),
    "30 aliases": articles(each(30, "a#: code"), "(first: 1)"),
    "an escaped emoji": articles("id", '(first: 1, code: "\\u{1F600}")'),
    "an id of 19000 digits": f"{{ article(id: {'9' * 19_000}) {{ id }} }}",
}


@pytest.mark.parametrize("name", HARMLESS)
async def test_what_is_unusual_is_answered(catalogue: Catalogue, name: str) -> None:
    answer = (await catalogue.send(HARMLESS[name])).body
    assert set(answer["data"]) <= {"articles", "article"}
    assert {error["extensions"]["code"] for error in answer.get("errors", [])} <= {"NOT_FOUND"}


@pytest.mark.parametrize(
    "document",
    [
        '{ a(b: "' + "{" * 100 + '") }',
        '{ a(b: """' + "[" * 100 + '\\"""' + "(" * 100 + ' "" \\ """) }',
        '{ a(b: "\\"' + "{" * 100 + '\\\\", c: "' + "{" * 100 + '") }',
        "{ a # " + "{" * 100 + ' "\n b # """\r c }',
        "#" + "{" * 100,
        "{ a }" * 300,
        "{a(b:[{c:[{d:1}]}])" + "{e}" * 2 + "}",
    ],
)
async def test_brackets_are_counted_only_where_they_nest(document: str) -> None:
    assert text_excess(document) is None


async def test_as_many_tokens_as_are_allowed(catalogue: Catalogue) -> None:
    """A document of 1000 tokens is read and refused for another reason; a document of 1001 tokens is not read."""
    for count, says in ((998, "has 998 fields"), (999, "over 1000 tokens")):
        assert says in (await catalogue.errors(f"{{ {'id ' * count} }}"))[0]["message"]


# --- requests --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'[{"query": "{ __typename }"}, {"query": "{ __typename }"}]', "application/json", 400),
        (b'"{ __typename }"', "application/json", 400),
        (b'{"query": ["{ __typename }"]}', "application/json", 400),
        (b'{"query": "{ __typename }", "variables": []}', "application/json", 400),
        (b'{"query": "{ __typename }", "variables": "{}"}', "application/json", 400),
        (b'{"query": "{ __typename }", "operationName": 1}', "application/json", 400),
        (b'{"query": "{ __typename }", "extensions": 1}', "application/json", 400),
        (b'{"query": "{ __typename }", "query": "{ a }"}', "application/json", 400),
        (b'{"extensions": {"persistedQuery": {"sha256Hash": "a"}}}', "application/json", 400),
        (
            b'{"query": "{ __typename }", "variables": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}",
            "application/json",
            400,
        ),
        (b'{"query": "' + b"x" * 1_100_000 + b'"}', "application/json", 413),
        (b'{"query": "{ __typename }"}', "text/plain", 415),
        (b'{"query": "{ __typename }"}', "application/graphql", 415),
        (b"query=%7B__typename%7D", "application/x-www-form-urlencoded", 415),
        (b"--a\r\n\r\n{}\r\n--a--", "multipart/form-data; boundary=a", 415),
    ],
)
async def test_requests_that_are_none(catalogue: Catalogue, content: bytes, kind: str, status: int) -> None:
    """Arrays of documents are refused, and so is everything that a form of another site could send."""
    with statements(catalogue.world) as run:
        answer = await catalogue.world.send("POST", PATH, raw=content, headers={"Content-Type": kind})
    assert answer.status == status, answer.raw
    (error,) = answer.body["errors"]
    assert error["extensions"]["code"] == "VALIDATION_FAILED"
    assert error["message"].endswith(".")
    assert run == []


async def test_a_mutation_is_not_done_by_get(catalogue: Catalogue) -> None:
    document = 'mutation { create_article(input: {code: "GET", name: "x"}) { id } }'
    with statements(catalogue.world) as run:
        answer = await catalogue.world.send("GET", f"{PATH}?query={_quoted(document)}")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert answer.body["errors"][0]["extensions"]["code"] == "METHOD_NOT_ALLOWED"
    assert run == []


async def test_a_hostile_document_is_refused_by_get_too(catalogue: Catalogue) -> None:
    variables = _quoted(json.dumps({"n": 400}))
    document = _quoted("query($n: Int!) { articles(first: $n) { nodes { stock(first: $n) { id } } } }")
    answer = await catalogue.world.send("GET", f"{PATH}?query={document}&variables={variables}")
    assert "Request shorter lists" in answer.body["errors"][0]["message"]


def _quoted(text: str) -> str:
    return quote(text, safe="")


# --- replies that grow too large -------------------------------------------------------------------------------

TOO_MUCH = "The answer would have over 10000 objects, or be too large. Request shorter lists."


async def test_an_answer_of_too_many_objects_is_null_where_they_would_stand(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of lines in a document is not known before."""
    monkeypatch.setattr("wmsd.interfaces.graphql.shapes.MOST_OBJECTS", 7)
    document = "{ sales_orders(first: 3) { nodes { id lines { article { id } } } } }"
    answer = (await catalogue.send(document)).body
    assert [error["message"] for error in answer["errors"]] == [TOO_MUCH]
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["VALIDATION_FAILED"]
    assert answer["errors"][0]["path"] == ["sales_orders", "nodes", 0, "lines", 0, "article"]
    assert {line["article"] for each in answer["data"]["sales_orders"]["nodes"] for line in each["lines"]} == {
        None
    }


async def test_an_answer_of_too_many_bytes_is_null(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wmsd.interfaces.graphql.execution.MOST_BYTES", 1000)
    answer = (await catalogue.send("{ articles { nodes { id } } article(id: 1) { id } }")).body
    assert answer["data"] == {"articles": None, "article": {"id": "1"}}
    assert [(error["path"], error["message"]) for error in answer["errors"]] == [(["articles"], TOO_MUCH)]
