"""A user's rights can change in any way and in any order. No credential reaches more than before or more than its
user, and each credential keeps what its user keeps.
"""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wmsd
from tests.support.world import World
from wmsd.contract.access import EVERYTHING, ROLES, Role
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import insert_row
from wmsd.tenants.accounts import sessions, store, token_store, tokens, user_rights
from wmsd.tenants.accounts.reach import Companies, LinkCreator, Reach, covers
from wmsd.tenants.accounts.rules import User, caller_of
from wmsd.tenants.keys.bearers import secret_hash

NAMES = ("stock:read", "articles:read", "stock:read,articles:read", EVERYTHING)
COMPANIES = ((), (1,), (2,), (1, 2), (1, 2, 3))
Step = tuple[Role, str, tuple[int, ...]]


LATER: Any = 9
"""The id of a company that is created later."""


class Rollback(Exception):
    """Raised to undo each example, so that the next example starts fresh."""


def reaches() -> st.SearchStrategy[Reach]:
    def reach(step: Step) -> Reach:
        role, names, ids = step
        abilities = frozenset(names.split(",") if role == "member" else [EVERYTHING])
        return Reach(role, abilities, None if role == "platform-admin" else frozenset(ids))

    return steps().map(reach)


def steps() -> st.SearchStrategy[Step]:
    return st.tuples(st.sampled_from(list(ROLES)), st.sampled_from(NAMES), st.sampled_from(COMPANIES))


def scopes() -> st.SearchStrategy[Companies]:
    return st.one_of(st.none(), st.sampled_from(COMPANIES).map(frozenset))


@given(reaches(), reaches(), reaches())
def test_what_is_in_both_is_in_each(first: Reach, second: Reach, third: Reach) -> None:
    assert first.both(second) == second.both(first)
    assert first.both(second).both(third) == first.both(second.both(third))
    assert first.both(second).is_within(first)
    assert first.is_within(first)
    assert Reach.from_json(first.to_json()) == first


@given(reaches(), reaches())
def test_a_reach_grows_in_the_companies_where_it_may_do_more(now: Reach, before: Reach) -> None:
    grown = now.grown_since(before)
    assert covers(now.company_ids, grown)
    for company in (1, 2, 3, 4):
        reached_before = covers(before.company_ids, frozenset([company]))
        if covers(now.company_ids, frozenset([company])):
            does_more = not reached_before or not Reach(now.role, now.abilities, None).is_within(
                Reach(before.role, before.abilities, None)
            )
            assert covers(grown, frozenset([company])) is does_more or grown is None
    if now.is_within(before):
        assert grown == frozenset()


Pairs = set[tuple[str, int]]


def pairs(role: Role, names: frozenset[str], companies: Companies) -> Pairs:
    """Return the reach of the rights: each ability and each role up to `role`, with each company's id."""
    roles = list(ROLES)
    ids = (1, 2, 3, LATER) if companies is None else companies
    return {(name, each) for name in (*names, *roles[roles.index(role) :]) for each in ids}


def of(user: User) -> Pairs:
    return pairs(user.role, user.may_do, user.may_use)


class Credentials:
    """A user who chose the password by a link, with a session and a token of that time."""

    def __init__(self, tx: Transaction, role: Role, names: str, ids: tuple[int, ...], scope: Companies) -> None:
        self.tx = tx
        self.user_id = store.insert_user(
            tx,
            email="bob@example.com",
            name="Bob",
            role=role,
            password_hash="",
            abilities=abilities_of(role, names),
            company_ids=companies_of(role, ids),
        )
        store.set_password(tx, self.user_id, "hash", LinkCreator(scope))
        self.hash = secret_hash(sessions.begin(tx, self.user_id, "", "", None))
        self.token_id = tokens.issue(
            tx,
            user_id=self.user_id,
            name="kept",
            abilities=[EVERYTHING],
            company_ids=None,
            lifetime=timedelta(days=1),
            signed_in=False,
        ).id

    @property
    def user(self) -> User:
        found = store.user_by_id(self.tx, self.user_id)
        assert found is not None
        return found

    def reached(self) -> dict[str, Pairs]:
        found, token = sessions.find(self.tx, self.hash), token_store.token_and_user(self.tx, id=self.token_id)
        assert found is not None and token is not None
        session, program = sessions.caller_of(found, False), caller_of(*token, self.tx.now)
        assert session.role is not None and program is not None
        return {
            "session": pairs(session.role, session.abilities, session.company_ids),
            "token": pairs("member", program.abilities, program.company_ids),
            "password": of(self.user.within(self.user.password_reach)),
        }


def abilities_of(role: Role, names: str) -> list[str]:
    return names.split(",") if role == "member" else [EVERYTHING]


def companies_of(role: Role, ids: tuple[int, ...]) -> tuple[int, ...]:
    return () if role == "platform-admin" else ids


def check(tx: Transaction, first: Step, changes: list[Step], scope: Companies) -> None:
    assert [insert_row(tx, "companies", {"code": code, "name": code}) for code in ("SECOND", "THIRD")] == [2, 3]
    held = Credentials(tx, *first, scope)
    for role, names, ids in changes:
        was, before = held.user, held.reached()
        user_rights.set_rights(tx, was, role, abilities_of(role, names), companies_of(role, ids))
        now, grown = held.user, held.user.reach.grown_since(was.reach)
        for name, reached in held.reached().items():
            assert reached <= of(now), f"{name} reaches more than its user"
            assert before[name] & of(now) <= reached, f"{name} loses what its user keeps"
            if name != "password" or not covers(scope, grown):
                assert reached <= before[name], f"{name} grows"
        since = tx.value("SELECT waiting_since FROM users WHERE id = ?", (held.user_id,))
        assert (since is not None) is (now.password_reach is not None)
        assert now.password_reach != now.reach
    raise Rollback


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps(), st.lists(steps(), min_size=1, max_size=5), scopes())
async def test_nothing_grows_with_its_user_and_all_shrinks(
    world: World, first: Step, changes: list[Step], scope: Companies
) -> None:
    with pytest.raises(Rollback):
        await world.installation.platform.write(lambda tx: check(tx, first, changes, scope))


def test_there_is_one_place_where_rights_are_changed() -> None:
    """If rights were changed in several places, one of them could forget the existing credentials."""
    changes = r"store\.set_rights\(|accounts\.set_rights\(|INTO\s+user_companies|UPDATE users SET role"
    found = [
        path.name
        for path in sorted(Path(wmsd.__file__).parent.rglob("*.py"), key=lambda path: path.name)
        for _ in re.findall(changes, path.read_text(encoding="utf-8"))
    ]
    assert found == ["store.py", "store.py", "user_rights.py"], (
        "the SQL is in store.py, once for new users and once here"
    )
