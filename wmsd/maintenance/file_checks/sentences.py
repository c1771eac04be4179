"""The doctor's findings in a file, as sentences."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from wmsd.warehouse.search.index_damage import is_of_index

if TYPE_CHECKING:
    from wmsd.maintenance.file_checks.company_checks import Findings

MOST_LISTED: Final = 3
"""How many sentences are listed for each file."""
Kind = Literal["damage", "index", "difference", "unproved", "error"]
"""The kind of problem. `damage`: the file is damaged. `index`: only its search index is damaged. `difference`: a
value differs. `unproved`: a promise cannot be checked. `error`: the file cannot be examined.
"""
SENTENCES: Final[Mapping[Kind, str]] = {
    "damage": "the file is damaged ({place}): {message}.",
    "index": "the search index of the file is damaged ({place}): {message}. No record is lost.",
    "difference": "{promise}; but {record}: {found} instead of {expected}.",
    "unproved": "could not check this rule: {promise}. The reason is: {reason}.",
}
"""The sentences by kind. A file that cannot be examined has a separate sentence with the reason."""
MORE: Final = "and {count} more."


class Finding(NamedTuple):
    kind: Kind
    sentence: str


def findings_of_file(found: "Findings") -> Iterator[Finding]:
    for damage in found.damages:
        yield _of("index" if is_of_index(damage) else "damage", place=damage.place, message=damage.messages[0])
    for each in found.differences:
        yield _of("difference", promise=each.promise, record=each.record, found=each.found, expected=each.expected)
    for unproved in found.unproved:
        yield _of("unproved", promise=unproved.promise, reason=unproved.reason)


def _of(kind: Kind, **facts: str) -> Finding:
    return Finding(kind, SENTENCES[kind].format_map(facts))


def finding_sentences(found: "Findings") -> list[str]:
    """Return the first `MOST_LISTED` sentences. If there are more findings, add a sentence with their number."""
    sentences = [each.sentence for each in findings_of_file(found)]
    more = [MORE.format(count=len(sentences) - MOST_LISTED)] if len(sentences) > MOST_LISTED else []
    return sentences[:MOST_LISTED] + more
