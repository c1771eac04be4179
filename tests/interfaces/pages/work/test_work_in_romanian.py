"""The Romanian texts of declared tables and of the ledger on the pages of work."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import polib
import pytest
from jinja2 import Environment

from tests.support.messages import CATALOGUES, TEMPLATES
from wmsd.contract.access import ABILITIES, MODULES
from wmsd.interfaces.guide.contents import READERS
from wmsd.interfaces.pages.kit.fields import Field
from wmsd.interfaces.pages.kit.filters import filters_of
from wmsd.interfaces.pages.kit.form_fields import form_of
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.kit.text import language, moments, words
from wmsd.interfaces.pages.kit.text.language import BETWEEN_SENTENCES, ERROR
from wmsd.interfaces.pages.records import ledger_words
from wmsd.interfaces.pages.records.act import CHANGED_MEANWHILE, SAVED_BEFORE
from wmsd.interfaces.pages.work.requests import NOT_KEPT, in_words
from wmsd.request_history import refusal_remedies
from wmsd.warehouse.document_kinds import DOCUMENTS

ALL = (*RESOURCES, *ADMINISTRATION)
PAGES = (
    *(
        "form",
        "inputs",
        "acts",
        "list",
        "record",
        "event",
        "today",
        "why",
        "movements",
        "request",
        "requests",
        "rights",
    ),
    *("start", "guide_frame", "guide_home", "guide_search", "guide_missing"),
)
GROUP: dict[str, Any] = {
    "kind": "adjustment",
    "quantity": -3,
    "quarantined": 0,
    "destroyed": 0,
    "documents": 0,
    "document_ids": [],
    "movements": 1,
    "lot_number": "L1",
    "actor": "ana@example.com",
    "reason": "spart",
    "first_at": "2026-11-20T10:00:00.000Z",
    "last_at": "2026-11-20T10:00:00.000Z",
}
PLACE = re.compile(r"%\(\w+\)s|\{\}")


def named(fields: Iterable[Field]) -> Iterator[str]:
    for field in fields:
        yield field.text
        yield from named(field.of)


def declared() -> Iterator[str]:
    for each in ALL:
        yield from (each.title, each.says, *(each.further or ())[1:])
        yield from named(each.fields.values())
        yield from (found.text for found in filters_of(each))
        for act in each.acts:
            yield from act.texts
            if act.leads_to:
                continue  # its form is that of another kind
            asked = form_of(act.operation.body, act.left_out(None), act.shown(None))
            yield from (text for field in asked for text in (field.text, field.help))
            yield from (inner.text for field in asked for inner in field.of)
    yield from (
        *words.STATUSES.values(),
        *words.DISPOSITIONS.values(),
        *ABILITIES.values(),
        *MODULES.values(),
        *moments.MONTHS,
    )
    yield from (text for reader in READERS for text in (reader.title, reader.says))
    yield from (CHANGED_MEANWHILE, SAVED_BEFORE, NOT_KEPT)
    for told in ledger_words.KINDS.values():
        yield from (told.name, told.summed, told.rises, told.falls, told.stays, told.one, told.many)
    for noun in (kind.table.noun for kind in DOCUMENTS):
        yield from (noun, f"{noun}s", f"%(num)s {noun}")


def of_templates() -> Iterator[str]:
    environment = Environment(
        extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True, autoescape=True
    )
    for name in PAGES:
        source = (TEMPLATES / f"{name}.html").read_text(encoding="utf-8")
        for _, _, message in environment.extract_translations(source):  # type: ignore[attr-defined]  # the extension adds it
            yield from (each for each in (message if isinstance(message, tuple) else (message,))[:1] if each)


@pytest.fixture(scope="module")
def entries() -> list[Any]:
    return [each for path in sorted(CATALOGUES.glob("ro*.po")) for each in polib.pofile(str(path))]


@pytest.fixture
def _in_romanian(monkeypatch: pytest.MonkeyPatch, entries: list[Any]) -> Iterator[None]:
    """Use a catalogue with all its parts."""
    whole = polib.pofile(str(CATALOGUES / "ro.po"))
    known = {(each.msgctxt, each.msgid) for each in whole}
    whole.extend(each for each in entries if (each.msgctxt, each.msgid) not in known)
    monkeypatch.setattr(language, "_entries", lambda _: whole)
    caches: Any = (language._catalogue, language._patterns)
    for each in caches:
        each.cache_clear()
    token = language.current.set("ro")
    yield
    language.current.reset(token)
    for each in caches:
        each.cache_clear()


def test_every_text_of_these_pages_is_translated(entries: list[Any]) -> None:
    known = {
        each.msgid for each in entries if not each.msgctxt and (each.msgstr or all(each.msgstr_plural.values()))
    }
    texts = {each for each in (*declared(), *of_templates()) if each}
    assert len(texts) > 450
    assert sorted(texts - known) == []


def test_what_to_do_about_a_refusal_is_translated(entries: list[Any]) -> None:
    known = {each.msgid for each in entries if each.msgctxt == ERROR and each.msgstr}
    fixed = (
        *refusal_remedies.BY_CODE.values(),
        *refusal_remedies.BY_STATUS.values(),
        refusal_remedies.UNKNOWN,
        refusal_remedies.BAD_BODY,
    )
    fixed += (refusal_remedies.BAD_DOCUMENT,)
    told = {sentence for each in fixed if isinstance(each, str) for sentence in BETWEEN_SENTENCES.split(each)}
    said = {each for each in told if not each.startswith("List the ")}
    assert len(said) > 20
    assert sorted(said - known) == []


def test_places_stay_and_plurals_are_three() -> None:
    for each in polib.pofile(str(CATALOGUES / "ro-work.po")):
        forms = list(each.msgstr_plural.values()) if each.msgid_plural else [each.msgstr]
        assert len(forms) == (3 if each.msgid_plural else 1), each.msgid
        for form in forms:
            assert form, each.msgid
            assert sorted(PLACE.findall(form)) == sorted(PLACE.findall(each.msgid)), each.msgid
            assert not set(form) & set("şţŞŢ"), form


def test_texts_that_templates_translate_are_plain() -> None:
    """A template treats its translated text as HTML, and a percent sign as a placeholder."""
    texts = [text for each in ALL for text in (each.title, each.says, *(each.further or ())[1:])]
    texts += [text for each in ALL for act in each.acts for text in act.texts]
    assert [each for each in texts if set(each) & set("%<>&")] == []


@pytest.mark.usefixtures("_in_romanian")
def test_the_verb_agrees_with_how_many_did_it() -> None:
    (one,) = ledger_words.sentences({"groups": [GROUP], "at": GROUP["last_at"]}, {})
    assert (one.subject, one.did) == ("O ajustare", "a scăzut 3")
    assert one.details == "la 20 noiembrie, lotul L1, de ana@example.com. Motiv: spart."
    many = {**GROUP, "movements": 25, "quantity": 3, "quarantined": 2}
    (more,) = ledger_words.sentences({"groups": [many], "at": GROUP["last_at"]}, {})
    assert (more.subject, more.did) == ("25 de ajustări", "au adăugat 3 în total")
    assert "din care 2 în carantină" in more.details


@pytest.mark.usefixtures("_in_romanian")
@pytest.mark.parametrize(
    ("told", "romanian"),
    [
        ("The module stock was off for the company.", "Modulul stock era oprit pentru companie."),
        (
            "The token no longer exists. Use a token that has stock:read. Ask ana@example.com.",
            "Tokenul nu mai există. Folosiți un token care are stock:read. Întrebați: ana@example.com.",
        ),
        ("A sentence that nobody has translated: what a pity. Really.",) * 2,
        ("", ""),
        ("x: " * 5000,) * 2,
    ],
)
def test_reasons_and_remedies_are_told_sentence_by_sentence(told: str, romanian: str) -> None:
    assert in_words(told) == romanian
