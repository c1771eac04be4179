"""The Romanian texts of declared tables on the pages of the running installation, of webhooks and of imports."""

import re
from collections.abc import Iterator

import polib
import pytest

from tests.interfaces.pages.visitor import Visitor
from tests.support.messages import CATALOGUES
from tests.support.shop import Shop
from wmsd.events.webhooks.schema import DELIVERY_STATUSES
from wmsd.http_client import failures
from wmsd.http_client.connector import Phase
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.pages.admin.health_words import REMEDIES, WORDS
from wmsd.interfaces.pages.admin.settings import SOURCES
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import ERROR
from wmsd.interfaces.pages.webhooks import signature_recipes
from wmsd.maintenance.file_checks.company_checks import CHECKS
from wmsd.server import job_log
from wmsd.settings.all_settings import sections

SAME: set[str] = {"UTF-8", "UTF-16", "Mac Roman", *(each.title for each in signature_recipes.LANGUAGES)}
"""Names that are the same in every language."""


def declared() -> Iterator[str]:
    yield from (text for check in WORDS.values() for text in check)
    yield from REMEDIES.values()
    yield from (text for job in jobs() for text in job)
    yield from (field.description or "" for model in sections().values() for field in model.model_fields.values())
    yield from (*SOURCES, *DELIVERY_STATUSES, *words.CHOICES.values())
    yield from map(words.kind, KINDS)


def jobs() -> list[job_log.Words]:
    return [*job_log.WORDS.values()]


@pytest.fixture(scope="module")
def romanian() -> dict[str, str]:
    files = [polib.pofile(str(path)) for path in sorted(CATALOGUES.glob("ro*.po"))]
    return {each.msgid: each.msgstr for file in files for each in file if not each.msgctxt}


@pytest.fixture(scope="module")
def sentences() -> set[str]:
    """Return the sentences of errors, with `{}` for each value."""
    files = [polib.pofile(str(path)) for path in sorted(CATALOGUES.glob("ro*.po"))]
    return {each.msgid for file in files for each in file if each.msgctxt == ERROR and each.msgstr}


def test_every_declared_text_of_these_pages_is_translated(romanian: dict[str, str]) -> None:
    texts = set(declared()) - SAME
    assert len(texts) > 130
    assert sorted(each for each in texts if romanian.get(each, each) in ("", each)) == []


def test_what_doctor_checks_is_translated(sentences: set[str]) -> None:
    assert sorted({each.promise for each in CHECKS} - sentences) == []


def test_why_attempts_fail_is_translated(sentences: set[str]) -> None:
    told = [*failures.BY_ERRNO.values(), *failures.BY_VERIFY_CODE.values(), failures.NOWHERE]
    patterns = {re.sub(r"\{\w+\}", "{}", each) for each in told} | {phase.value for phase in Phase}
    assert sorted(patterns - sentences) == []


def test_texts_that_templates_translate_are_plain() -> None:
    """A template treats its translated text as HTML, and a percent sign as a placeholder."""
    texts = {*REMEDIES.values(), *SOURCES, *DELIVERY_STATUSES, *(text for job in jobs() for text in job)}
    assert [each for each in texts if set(each) & set("%<>&")] == []


@pytest.mark.parametrize("address", ["/docs/api", "/docs/api?q=stock", "/docs/api/stock", "/docs/api/graphql"])
async def test_the_reference_is_english_for_readers_of_every_language(shop: Shop, address: str) -> None:
    """The page is created once: the language of the first reader must not decide for all readers."""
    visitor = Visitor(shop.world)
    first = await visitor.get(address, {"Accept-Language": "ro"})
    assert first.status == 200
    assert '<html lang="en">' in first.text
    assert (await visitor.get(address)).text == first.text
