"""The doctor's findings in the language of the page.

A finding is stored as English sentences. The kind of the finding declares these sentences, with a named
placeholder for each value. This module finds the values in a stored sentence, and puts them into the translated
sentence. If no declaration matches, as for a sentence of another version of wmsd, the sentence stays English.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

from wmsd.interfaces.pages.kit.text.language import DEFAULT, Pattern, current, finding_text, translate_error

if TYPE_CHECKING:
    from wmsd.contract.findings import FindingKind

A_SENTENCE: Final = "sentence"
"""The name of a placeholder whose value is a whole sentence. This sentence is translated like an error."""
DEEPEST: Final = 5
"""The maximum depth of translation. A value may be a text with values, whose values may again be texts with
values.
"""


def sentence_of(found: Mapping[str, Any]) -> str:
    """Return the sentence of a finding in the language of the page."""
    kind = _kind(found)
    return found["sentence"] if kind is None else _told(found["sentence"], kind.says, kind.words)


def remedy_of(found: Mapping[str, Any]) -> str:
    kind = _kind(found)
    return found["remedy"] if kind is None else _told(found["remedy"], kind.remedy, kind.words)


def fact_of(text: str, words: Sequence[str]) -> str:
    """Return `text`, a value of a sentence, in the language of the page.

    `words` are the declared texts that can be translated; each may contain values itself. If `text` matches none
    of them, return it unchanged.
    """
    return text if current.get() == DEFAULT else _fact("", text, words, 0)


def of_file(sentence: str) -> str:
    """Return the sentence about an error in a file, in the language of the page.

    In the result of a backup verification, the name of the file and a colon come before the sentence.
    """
    if current.get() == DEFAULT:
        return sentence
    name, colon, rest = sentence.partition(": ")
    if colon and (found := _of_file(rest)) is not None:
        return f"{name}: {found}"
    return _of_file(sentence) or translate_error(sentence)


def _of_file(sentence: str) -> str | None:
    for declared, words in _file_sentences():
        facts = facts_in(declared, sentence)
        if facts is not None:
            promise = facts.get("promise", "")
            return _fitted(declared, facts, _words_of_promises().get(promise, words), 0)
    return None


def _told(text: str, declared: str, words: Sequence[str]) -> str:
    facts = facts_in(declared, text)
    return text if facts is None else _fitted(declared, facts, words, 0)


def _fitted(declared: str, facts: Mapping[str, str], words: Sequence[str], depth: int) -> str:
    values = {name: _fact(name, text, words, depth) for name, text in facts.items()}
    return finding_text(declared).format(*values.values(), **values)


def _fact(name: str, text: str, words: Sequence[str], depth: int) -> str:
    if name == A_SENTENCE:
        return translate_error(text)
    for declared in words if depth < DEEPEST else ():
        facts = facts_in(declared, text)
        if facts is not None and _is_plain(declared, text):
            return _fitted(declared, facts, words, depth + 1)
    return text


def facts_in(declared: str, text: str) -> Mapping[str, str] | None:
    """Return the values in `text` by the names of their placeholders in `declared`. Return None if `text` does not
    match `declared`.
    """
    pattern, names = _pattern(declared)
    values = ([] if text == declared else None) if not names else pattern.values_in(text)
    if values is None:
        return None
    facts = dict(zip(names, values, strict=True))
    return facts if declared.format_map(facts) == text else None


def _is_plain(declared: str, text: str) -> bool:
    """Return True if it is certain where each value in `text` begins and ends.

    It is not certain if a value contains words of the sentence `declared`. For example, an article's code can
    contain any words.
    """
    pattern, _ = _pattern(declared)
    return all(text.count(piece) == 1 for piece in pattern.pieces[1:-1])


@cache
def _pattern(declared: str) -> tuple[Pattern, tuple[str, ...]]:
    parts = [(text, name) for text, name, _, _ in Formatter().parse(declared)]
    names = tuple(name for _, name in parts if name is not None)
    texts = [text for text, _ in parts]
    return Pattern(tuple(texts if len(texts) > len(names) else [*texts, ""]), ""), names


def _kind(found: Mapping[str, Any]) -> "FindingKind | None":
    """Return the kind of a finding. Return None if the finding need not or cannot be translated.

    On an English page, it need not be translated. It cannot be translated if the kind belongs to another version
    of wmsd.
    """
    return None if current.get() == DEFAULT else _kinds().get(found["check"])


@cache
def _kinds() -> Mapping[str, "FindingKind"]:
    from wmsd.maintenance.doctor.findings import KINDS  # imported only here: a server just reads findings

    return {kind.name: kind for kind in KINDS}


@cache
def _words_of_promises() -> Mapping[str, Sequence[str]]:
    """Return the texts that can be translated in sentences about a promise, by promise.

    A promise is a sentence that is true for the data of every undamaged file. The texts are the promise itself,
    and names of its records and values.
    """
    from wmsd.maintenance.file_checks.company_checks import PROMISES

    return {promise: (promise, *words) for promise, words in PROMISES.items()}


@cache
def _file_sentences() -> Sequence[tuple[str, Sequence[str]]]:
    """Return the declared sentences about files, each with the texts that its placeholders may stand for."""
    from wmsd.db.files.integrity import WORDS
    from wmsd.maintenance.file_checks.company_checks import READINGS
    from wmsd.maintenance.file_checks.sentences import MORE, SENTENCES

    words = {"damage": WORDS, "index": WORDS, "unproved": READINGS}
    return [*((SENTENCES[kind], words.get(kind, ())) for kind in SENTENCES), (MORE, ())]
