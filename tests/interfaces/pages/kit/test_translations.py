"""The texts of the pages, compared with the Romanian catalogues."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import polib
import pytest

from tests.support.messages import CATALOGUES, Message, collected, of_python, of_template, places

FORMS = 3
"""The number of plural forms in Romanian."""


def entries(folder: Path = CATALOGUES) -> list[polib.POEntry]:
    return [each for path in sorted(folder.glob("ro*.po")) for each in polib.pofile(str(path)) if not each.msgctxt]


def untranslated(messages: Iterable[Message], known: Iterable[polib.POEntry]) -> list[Message]:
    done = {(each.msgid, each.msgid_plural) for each in known if each.translated()}
    return sorted(each for each in messages if (each.text, each.plural) not in done)


def wrong(entry: polib.POEntry) -> bool:
    """Return True if a translation has other placeholders than its message, or lacks a form.

    Each form has the placeholders of the matching English form: "one delivery" does not need a number.
    """
    if not entry.msgid_plural:
        return places(entry.msgstr) != places(entry.msgid)
    said = [places(each) for _, each in sorted(entry.msgstr_plural.items())]
    expected = [places(entry.msgid), *[places(entry.msgid_plural)] * (FORMS - 1)]
    return said != expected


def test_every_message_is_translated() -> None:
    assert untranslated(collected(), entries()) == []


def test_every_translation_names_the_values_of_its_message() -> None:
    known = entries()
    assert known
    assert [each.msgid for each in known if each.translated() and wrong(each)] == []


def test_messages_of_every_kind_are_collected() -> None:
    """The kinds are: in a template, in Python, a plural, in a table, and an act."""
    found = {(each.text, each.plural) for each in collected()}
    assert found >= {
        ("Trust this server", ""),
        ("yes", ""),
        ("expires in %(num)s day", "expires in %(num)s days"),
        ("Created", ""),
        ("End sessions and tokens", ""),
    }


def test_what_a_template_says_is_found() -> None:
    source = "{{ _('One.') }}{% trans count=n %}{{ count }} row{% pluralize %}{{ count }} rows{% endtrans %}"
    assert set(of_template(source, "t")) == {
        Message("One.", "", "t"),
        Message("%(count)s row", "%(count)s rows", "t"),
    }


def test_what_a_variable_holds_is_not_a_message() -> None:
    assert list(of_python("_(name); _('Said.')", "p")) == [Message("Said.", "", "p")]


def test_a_forgotten_text_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "ro.po").write_text('msgid "One."\nmsgstr "Unu."\n\nmsgid "Empty."\nmsgstr ""\n', encoding="utf-8")
    messages = [Message("One."), Message("Empty."), Message("Forgotten.")]
    assert untranslated(messages, entries(tmp_path)) == [Message("Empty."), Message("Forgotten.")]


@pytest.mark.parametrize(
    "entry",
    [
        polib.POEntry(msgid="%(name)s is here", msgstr="este aici"),
        polib.POEntry(msgid="here", msgstr="%(name)s"),
        polib.POEntry(
            msgid="%(num)s day", msgid_plural="%(num)s days", msgstr_plural={0: "%(num)s", 1: "%(num)s"}
        ),
    ],
)
def test_a_wrong_translation_is_noticed(entry: polib.POEntry) -> None:
    assert wrong(entry)


def test_a_singular_need_not_name_the_number() -> None:
    forms = {0: "Se trimite una.", 1: "Se trimit %(n)s.", 2: "Se trimit %(n)s."}
    assert not wrong(polib.POEntry(msgid="One is sent.", msgid_plural="%(n)s are sent.", msgstr_plural=forms))


def test_what_a_variable_holds_is_translated_by_the_filter() -> None:
    """The function `_` would treat the value as HTML."""
    with pytest.raises(ValueError, match=r"t, line 1"):
        list(of_template("{{ _(name) }}", "t"))


def test_no_message_is_translated_twice() -> None:
    said = [(each.msgid, each.msgid_plural) for each in entries()]
    assert [each for each, times in Counter(said).items() if times > 1] == []
