"""The pages about users and signing in are translated into Romanian."""

import re
from collections.abc import Iterator
from typing import Final

import polib
import pytest
from jinja2 import Environment
from jinja2.ext import extract_from_ast

from tests.support.messages import CATALOGUES, PAGES
from tests.support.messages import TEMPLATES as FOLDER
from wmsd.contract.field_schemas import declared_name
from wmsd.interfaces.pages.kit import refusal_page
from wmsd.interfaces.pages.kit.admin_menu import ADMIN_PAGES
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.kit.text.language import ERROR
from wmsd.interfaces.pages.people import (
    account,
    first_run,
    invitation,
    sign_in,
    sign_on,
)
from wmsd.tenants.accounts.sign_in_methods import Holdings

TEMPLATES: Final = (
    *("frame", "menu_frame", "account", "second_factor", "second_step", "recovery_codes", "sign_in"),
    *(
        "first_admin",
        "welcome",
        "demo",
        "invited",
        "once",
        "token",
        "not_let_in",
        "signed_on",
        "spent",
        "no_admin",
    ),
    *("refused", "refused_here", "refusal", "kept", "own_fields", "try_sign_on", "password", "trust"),
)
SAME: Final = {"Audit", "Browser"}
"""Words that are the same in Romanian."""
PLACES: Final = re.compile(r"%\(\w+\)s|\{\}|<[^>]+>")


def texts() -> Iterator[str]:
    environment = Environment(
        extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True, autoescape=True
    )
    for name in TEMPLATES:
        tree = environment.parse((FOLDER / f"{name}.html").read_text())
        for _, _, said in extract_from_ast(tree):
            yield from (each for each in (said if isinstance(said, tuple) else (said,)) if each)
    yield from (each[1] for each in (*account.FIELDS, *sign_in.FIELDS, *first_run.FIELDS, *invitation.FIELDS))
    yield from (sign_on.NOT_BEGUN, *refusal_page.HEADINGS.values(), refusal_page.OTHER)
    yield from (*refusal_page.NEXT.values(), refusal_page.ANOTHER_SESSION, refusal_page.AFTER_FORM)
    yield from (refusal_page.ANOTHER_ORIGIN, refusal_page.ONE_ORIGIN, refusal_page.BEHIND_PROXY)
    yield from (each.title for each in (*RESOURCES, *ADMINISTRATION))
    yield from (each.title for each in ADMIN_PAGES)


@pytest.fixture(scope="module")
def romanian() -> dict[str, str]:
    files = [polib.pofile(str(path)) for path in sorted(CATALOGUES.glob("ro*.po"))]
    return {each.msgid: each.msgstr for file in files for each in file if not each.msgctxt}


def test_every_text_of_these_pages_is_translated(romanian: dict[str, str]) -> None:
    said = set(texts()) - SAME
    assert len(said) > 120
    assert sorted(each for each in said if romanian.get(each, each) in ("", each)) == []


def test_what_only_the_audit_shows_of_a_change_is_translated(romanian: dict[str, str]) -> None:
    shown = (*Holdings._fields, "tokens_revoked", "archive", "folder", "fixed", "failures", "addresses")
    names = {declared_name(each) for each in (*shown, "recovery_codes")}
    assert [each for each in names if romanian.get(each, each) in ("", each)] == []


def test_the_messages_of_pages_themselves_are_translated() -> None:
    """`told` finds the messages in the catalogue by their English sentence. A change in the code alone would lose
    the translation.
    """
    catalogues = [polib.pofile(str(path)) for path in sorted(CATALOGUES.glob("ro*.po"))]
    errors = {each.msgid for entries in catalogues for each in entries if each.msgctxt == ERROR}
    for module in ("kit/browser", "people/trust"):
        code = (PAGES / f"{module}.py").read_text()
        said = re.findall(r'(?:Problem\("[A-Z_]+", |forbidden\()"([^"]+)"', code)
        assert said, module
        assert set(said) <= errors


def test_the_catalogue_is_in_order_with_the_places_of_the_english_and_the_right_letters() -> None:
    entries = list(polib.pofile(str(CATALOGUES / "ro-people.po")))
    assert [each.msgid for each in entries] == sorted(each.msgid for each in entries)
    for each in entries:
        assert sorted(PLACES.findall(each.msgstr)) == sorted(PLACES.findall(each.msgid)), each.msgid
        assert not set(each.msgstr) & set("ţşŢŞ"), each.msgid
