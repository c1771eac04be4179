"""Tests of who may use which company."""

import pytest

from wmsd.contract.context import Actor, Caller


@pytest.mark.parametrize(
    ("company_ids", "company", "may"),
    [(None, 1, True), (frozenset(), 1, False), (frozenset({1, 2}), 2, True), (frozenset({1, 2}), 3, False)],
)
def test_a_caller_may_use_the_named_companies_or_all(
    company_ids: frozenset[int] | None, company: int, may: bool
) -> None:
    assert Caller(Actor("a"), frozenset(), company_ids).may_use(company) is may
