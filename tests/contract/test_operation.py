"""Tests of an operation's declaration, and of what follows from the signature of its action."""

from typing import Annotated, Any

import pytest

from wmsd.contract.fields import Input, Name, Recorded
from wmsd.contract.list_queries import PageQuery
from wmsd.contract.operation import MAX_BODY, Operation, operation
from wmsd.contract.results import Record


class Fields(Input):
    name: Name


class FieldsWithId(Fields):
    id: int = 0


class Article(Recorded):
    name: Name


class Waiting:
    pass


def declared(**changes: Any) -> Operation:
    """Declare an operation whose action takes only its transaction."""

    def try_it(tx: object) -> None:
        """Try it."""

    return operation(**{"tag": "Articles", "answer": "nothing", **changes})(try_it)


def test_what_is_not_said_is_what_most_are() -> None:
    made = declared()
    assert (made.name, made.summary, made.description, made.tag) == ("try_it", "Try it", "", "Articles")
    assert (made.takes, made.path_types, made.query, made.body, made.returns) == (
        frozenset(),
        {},
        None,
        None,
        None,
    )
    assert (made.answer, made.ability, made.module, made.scope, made.limit) == (
        *("nothing", None, "api", "company"),
        "company",
    )
    assert [made.signed_in, made.writes, made.creates, made.ignores_query] == [True, False, False, False]
    assert (made.needs, made.events, made.codes, made.also_shown_with) == (None, (), (), None)
    assert (made.precondition, made.off_because) == (None, None)
    assert (made.max_body, made.read_only) == (MAX_BODY, frozenset())


def test_what_is_said_is_kept() -> None:
    def read(tx: object) -> Record:
        raise NotImplementedError

    def why_off(company: object) -> None:
        raise NotImplementedError

    said = {
        "tag": "Articles",
        "answer": "record",
        "returns": Article,
        "ability": "articles:write",
        "module": "articles",
        "limit": "open",
        "signed_in": False,
        "writes": True,
        "creates": True,
        "events": ("article.created",),
        "codes": ("INVALID_ARTICLE",),
        "ignores_query": True,
        "also_shown_with": 503,
        "precondition": read,
        "off_because": why_off,
        "max_body": 10,
    }
    made = declared(**said)
    assert {name: getattr(made, name) for name in said} == said


@pytest.mark.parametrize(
    ("scope", "module", "limit"),
    [
        ("company", "articles", "company"),
        ("site", "articles", "company"),
        ("platform", None, "user"),
        ("kernel", None, "user"),
    ],
)
def test_modules_and_limits_are_a_companys(scope: str, module: str | None, limit: str) -> None:
    made = declared(scope=scope, module="articles")
    assert (made.module, made.limit) == (module, limit)
    assert declared(scope=scope, limit="sign-in").limit == "sign-in"


@pytest.mark.parametrize("wrong", [{"ability": "articles:eat"}, {"module": "kitchen"}, {"tag": "Meals"}])
def test_what_there_is_not_cannot_be_needed(wrong: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match=next(iter(wrong.values()))):
        declared(**wrong)


def test_there_may_be_no_module_and_no_ability() -> None:
    assert (declared(module=None).module, declared(ability=None).ability) == (None, None)


def test_the_signature_says_what_is_taken_from_where() -> None:
    @operation(tag="Articles", answer="record", returns=Article)
    def change(
        tx: object,
        id: int,
        code: Annotated[str, "a mark"],
        query: PageQuery,
        body: Fields,
        position: int,
        operator_id: int | None,
        company: object,
        call: object,
        caller: object,
        site: object,
        database: object,
    ) -> None:
        """Change it..

        This says more,
            and this.
        """

    assert change.path_types == {"id": int, "code": str}
    assert change.takes == {
        *("id", "code", "query", "body", "position", "operator_id"),
        *("company", "call", "caller", "site", "database"),
    }
    assert (change.query, change.body, change.needs) == (PageQuery, Fields, None)
    assert (change.summary, change.description) == ("Change it", "This says more,\n    and this.")
    assert change.action.__name__ == "change"


def test_an_action_that_waits_needs_its_service() -> None:
    @operation(tag="Articles", answer="object")
    async def wait(service: Waiting, id: int) -> None:
        pass

    assert (wait.needs, wait.path_types, wait.summary) == (Waiting, {"id": int}, "wait")
    assert wait.takes == {"id"}


def taking(body: type[Input] | None, returns: Any) -> Operation:
    def try_it(tx: object, body: object) -> None:
        """Try it."""

    if body is None:
        return declared(returns=returns)
    try_it.__annotations__["body"] = body
    return operation(tag="Articles", answer="record", returns=returns)(try_it)


@pytest.mark.parametrize(
    ("body", "returns", "read_only"),
    [
        (Fields, Article, {"id", "created_at", "updated_at"}),
        (FieldsWithId, Article, {"created_at", "updated_at"}),
        (Fields, None, set()),
        (Fields, Fields, set()),
        (None, Article, set()),
    ],
)
def test_what_a_record_shows_and_nobody_sets_may_be_sent_back(
    body: type[Input] | None, returns: Any, read_only: set[str]
) -> None:
    assert taking(body, returns).read_only == read_only
