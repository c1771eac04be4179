"""The checklist of a company's move: what is done, what is still to do, and by which command."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from wmsd.base.email_addresses import mailbox_of
from wmsd.base.plurals import count_of
from wmsd.interfaces.cli.tenants.other_installation import OverHttp
from wmsd.maintenance.company_moves.move_checks import LISTED, Site, Standing, User

MARKS: Final = {True: "[x]", False: "[ ]", None: "[?]"}


class Tick(NamedTuple):
    """An entry of the checklist. `is_done` is None if this command cannot check the entry.

    `to_do` is the command to type, or what a person must do.
    """

    is_done: bool | None
    text: str
    to_do: str = ""

    def __str__(self) -> str:
        to_do = "" if self.is_done or not self.to_do else f" To do: {self.to_do}"
        return f"{MARKS[self.is_done]} {self.text}{to_do}"


def of_folder(home: Standing, there: Standing, data: str) -> Iterator[Tick]:
    """Yield the checklist for a move to an installation whose data folder the user has named.

    `home` is the state of the company here, and `there` its state in the other installation. The commands in the
    checklist contain `data`, the options that name the other installation.
    """
    code, new_code = home.company.code, there.company.code
    yield _frozen(home)
    yield Tick(True, f"{code} is in the other installation, as {new_code}.")
    yield _last_event(there.knows_event)
    yield _counts(home, there.counts)
    yield from _users(home.users, there.users, new_code, data)
    yield _tokens(home.tokens, there.tokens, new_code, data)
    yield from _sites(home.sites, there.sites, new_code, data)
    yield from _webhooks(home, there.webhooks, new_code, data)
    yield _id(home, there.company.id, bool(there.requests))


def of_address(home: Standing, found: OverHttp, new_code: str) -> Iterator[Tick]:
    """Yield the checklist for a move to an installation whose address the user has named.

    `home` is the state of the company here, and `found` has the answers of the other installation's API. If the
    API does not answer a question, the checklist says what a person must do in the other installation.
    """
    yield _frozen(home)
    if found.company_id is None:
        yield Tick(
            False,
            f"The token has no access to a company {new_code} at {found.address}.",
            "import the company there, and create a token for it.",
        )
        return
    yield Tick(True, f"{home.company.code} is served at {found.address}, as {new_code}.")
    yield Tick(True, "The token has access to the company there.")
    yield _last_event(found.knows_event)
    yield _counts(home, found.counts)
    yield from _behind(home, new_code)
    webhooks = found.webhooks
    if webhooks is None:
        yield Tick(
            None,
            "The token may not read webhooks in the other installation.",
            "use a token with the ability webhooks:read.",
        )
    else:
        yield from _webhooks(home, webhooks, new_code, "")
    yield _id(home, found.company_id, None)


def of_file(home: Standing, new_code: str) -> Iterator[Tick]:
    """Yield the checklist for a move through a file. The other installation is not known yet."""
    yield _frozen(home)
    yield from _behind(home, new_code)
    yield from _webhooks(home, {}, new_code, "")
    yield Tick(
        None,
        f"The company's id is {home.company.id} here, and is probably different in the other installation.",
        "integrators send the id that the import shows as X-Company-Id, to the new address.",
    )


def deletion(home: Standing) -> str:
    return f"wmsd company delete {shlex.quote(home.company.code)}"


def _frozen(home: Standing) -> Tick:
    code, since = home.company.code, home.company.frozen_at
    if since is None:
        again = f"move the company again: wmsd company move {shlex.quote(code)} --to …"
        return Tick(
            False, f"{code} is not frozen here: new changes here are missing in the other installation.", again
        )
    return Tick(
        True, f"{code} has been frozen here since {since}: it accepts no changes and sends no webhooks here."
    )


def _last_event(is_known: bool | None) -> Tick:
    if is_known is None:
        return Tick(
            None,
            "The token may not read events in the other installation.",
            "use a token with the ability webhooks:read.",
        )
    if is_known:
        return Tick(True, "The last event from here is in the other installation.")
    return Tick(
        False,
        "The last event from here is missing in the other installation.",
        "check that the file of this move was imported.",
    )


def _counts(home: Standing, there: Mapping[str, int | None]) -> Tick:
    seen = {table: count for table, count in there.items() if count is not None and table in home.counts}
    fewer = [
        f"{count} of {home.counts[table]} {table.replace('_', ' ')}"
        for table, count in seen.items()
        if count < home.counts[table]
    ]
    if fewer:
        to_do = "check whether they were deleted there after the move."
        return Tick(False, f"The other installation has fewer records: {', '.join(fewer)}.", to_do)
    if not seen:
        return Tick(
            None,
            "The token may not read any records in the other installation.",
            "use a token with abilities that end with :read.",
        )
    some = ", ".join(f"{seen[table]} {table.replace('_', ' ')}" for table in LISTED if table in seen)
    return Tick(True, f"All records are in the other installation: {some}.")


def _users(home: list[User], there: list[User], code: str, data: str) -> Iterator[Tick]:
    known = {mailbox_of(each.email): each for each in there}
    for user in home:
        if not user.has_company:
            continue
        other = known.get(mailbox_of(user.email))
        if other is not None and other.may_use:
            yield Tick(True, f"{user.email} has access in the other installation.")
        elif other is not None:
            change = f"wmsd user change {shlex.quote(user.email)} --add-company {shlex.quote(code)}{data}"
            yield Tick(
                False,
                f"{user.email} is a user in the other installation, but has no access to this company.",
                change,
            )
        else:
            yield Tick(
                False,
                f"{user.email} ({user.role}) is not a user in the other installation.",
                _create(user, code, data),
            )


def _create(user: User, code: str, data: str) -> str:
    email, company = shlex.quote(user.email), shlex.quote(code)
    abilities = "".join(f" --ability {shlex.quote(each)}" for each in user.abilities)
    return f"wmsd user create {email} --role {user.role} --company {company}{abilities} --link{data}"


def _tokens(home: int, there: int, code: str, data: str) -> Tick:
    create = f"wmsd token create --user EMAIL --ability ABILITY --company {shlex.quote(code)}{data}"
    if there:
        return Tick(True, f"Tokens with access to the company: {there} in the other installation, {home} here.")
    if not home:
        return Tick(True, "No tokens have access to the company here, so the other installation needs no tokens.")
    return Tick(
        False,
        f"No tokens have access in the other installation; {home} had access here. Create a "
        "token for each program.",
        create,
    )


def _sites(home: list[Site], there: list[Site], code: str, data: str) -> Iterator[Tick]:
    known = {each.warehouse for each in there}
    for site in home:
        is_there = site.warehouse in known
        named = f"The site {site.name} ({site.warehouse})"
        yield Tick(
            is_there,
            f"{named} has {'a' if is_there else 'no'} token in the other installation.",
            _make(site, code, data),
        )


def _make(site: Site, code: str, data: str) -> str:
    words = map(shlex.quote, (code, site.warehouse, "--name", site.name))
    return f"wmsd site create {' '.join(words)}{data}"


def _behind(home: Standing, code: str) -> Iterator[Tick]:
    """Yield entries for users, tokens and sites. This command cannot check them if the other installation is on
    another machine.
    """
    users = [each for each in home.users if each.has_company]
    for user in users:
        yield Tick(
            None,
            f"{user.email} ({user.role}) has access here.",
            f"in the other installation, {_create(user, code, '')}",
        )
    if home.tokens:
        create = f"wmsd token create --user EMAIL --ability ABILITY --company {shlex.quote(code)}"
        opens = count_of(home.tokens, "token has", "tokens have")
        yield Tick(
            None,
            f"{opens} access here, and will not work in the other installation.",
            f"in the other installation, for each program, {create}",
        )
    for site in home.sites:
        yield Tick(
            None,
            f"The site {site.name} ({site.warehouse}) has a token here.",
            f"in the other installation, {_make(site, code, '')}",
        )


def _webhooks(home: Standing, there: Mapping[int, str], code: str, data: str) -> Iterator[Tick]:
    for webhook, name in home.webhooks.items():
        is_on = webhook in there
        switch = f"wmsd webhook on {webhook} --company {shlex.quote(code)}{data}"
        yield Tick(is_on, f"The webhook {name} is {'on' if is_on else 'off'} in the other installation.", switch)


def _id(home: Standing, there: int, has_requests: bool | None) -> Tick:
    if there == home.company.id:
        return Tick(True, f"The company's id is {there} in both installations.")
    text = f"The company's id was {home.company.id}, and is {there} in the other installation."
    if has_requests:
        return Tick(True, f"{text} Programs have sent requests there.")
    return Tick(has_requests, text, f"integrators send X-Company-Id: {there}, to the new address.")
