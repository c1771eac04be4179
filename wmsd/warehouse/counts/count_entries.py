"""Enters counted quantities into the lines of a count."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from wmsd.base.quantity import SCALE
from wmsd.contract.field_errors import FieldError, invalid_field
from wmsd.contract.fields import SentBack
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles import store as articles_store
from wmsd.warehouse.counts.count_ledger import Ledger
from wmsd.warehouse.counts.rules import Row, part_of
from wmsd.warehouse.counts.schema import MAX_LINES, CountLineFields
from wmsd.warehouse.documents.document_references import Articles
from wmsd.warehouse.stock.parts import PartKey

ONLY_SHOWN: Final = frozenset(
    name for name, field in CountLineFields.model_fields.items() if SentBack in field.metadata
)
OTHER_GOODS: Final = "does not match the line with this id: for other goods, send a new line without an id"
PART: Final = ("lot_number", "serial")
NUMBER: Final = ("counted_quantity", "counted_at")
NOT_COUNTED: Final = {
    **dict.fromkeys(("counted_quantity", "counted_at", "arrived_at", "ledger_quantity")),
    "count_again": 0,
}


class Entry(NamedTuple):
    """A sent line, and the line of the count to which it belongs.

    `path` is the path of the sent line in the body. `row` is the line of the count: a stored line, or a new line.
    """

    path: str
    sent: CountLineFields
    row: Row


class Entries(NamedTuple):
    """All lines of a count in their new state (`rows`), and the errors in the sent lines."""

    rows: list[Row]
    errors: list[FieldError]
    are_counted: bool
    """True if any sent line reports a new count."""


def enter(
    tx: Transaction,
    warehouse_id: int,
    sent: Sequence[CountLineFields],
    before: Sequence[Row] = (),
    *,
    replaces: bool = False,
    expands: bool = False,
) -> Entries:
    """Combine the lines `sent` with the stored lines `before`. Return all lines of the count in the form to store,
    and the errors.

    If `replaces` is True, stored lines that are not sent are removed. If `expands` is True, a sent line may stand
    for several lines: it names only an article or a lot, and has no counted quantity. In this case, each of its
    lots and serials in stock gets a line.
    """
    errors: list[FieldError] = []
    named = list(_named(sent, before, Articles(tx, sent, before), errors))
    ledger = Ledger.of(tx, warehouse_id, [article_id for _, _, _, article_id in named])
    entries = list(_entries(named, before, ledger, expands, errors))
    errors += _impossible_lines(tx, entries)
    if errors:
        return Entries([], errors, are_counted=False)
    counted = [_is_new_count(entry) for entry in entries]
    rows = _entered(tx, entries, counted, ledger)
    if not replaces:
        rows = _merged(before, rows)
    return Entries(rows, [*_too_many(rows)], are_counted=any(counted))


Named = tuple[str, CountLineFields, Row | None, int]
"""A sent line in four parts: the path in the body, the line, the stored line with the same id (or None), and the
article's id.
"""


def _named(
    sent: Sequence[CountLineFields], before: Sequence[Row], articles: Articles, errors: list[FieldError]
) -> Iterator[Named]:
    known = {row["id"]: row for row in before}
    for number, line in enumerate(sent):
        path = f"lines.{number}"
        is_named = line.article_id is not None or line.article_code is not None
        if line.id is None or (line.id not in known and is_named):
            article = articles.find(line, path, errors)
            if article is not None:
                yield path, line, None, article.id
        elif line.id not in known:
            errors.append(invalid_field(f"{path}.id", "is not a line of this count"))
        elif _is_of(line, row := known[line.id], articles, path, errors):
            yield path, line, row, row["article_id"]


def _is_of(line: CountLineFields, row: Row, articles: Articles, path: str, errors: list[FieldError]) -> bool:
    """Return True if the sent line names the same goods as the stored line `row`. Otherwise add an error to
    `errors` and return False.
    """
    before = len(errors)
    if line.article_id is not None or line.article_code is not None:
        article = articles.find(line, path, errors)
        if article is not None and article.id != row["article_id"]:
            errors.append(invalid_field(f"{path}.article_id", OTHER_GOODS))
    for name in PART:
        if name in line.model_fields_set and getattr(line, name) != row[name]:
            errors.append(invalid_field(f"{path}.{name}", OTHER_GOODS))
    return len(errors) == before


def _entries(
    named: Sequence[Named], before: Sequence[Row], ledger: Ledger, expands: bool, errors: list[FieldError]
) -> Iterator[Entry]:
    """Find the line of the count for each sent line, and yield both as an entry.

    If the sent line has no id, the line of the count is the stored line with the same goods, or else a new line.
    If `expands` is True, one sent line may yield several entries (see `enter`). If two sent lines name the same
    goods, add an error to `errors`.
    """
    by_part = {(row["article_id"], part_of(row)): row for row in before}
    by_serial = {(row["article_id"], row["serial"]): part_of(row) for row in before if row["serial"]}
    seen: dict[tuple[int, PartKey], int] = {}
    for number, (path, line, row, article_id) in enumerate(named, start=1):
        if row is not None:
            parts = [part_of(row)]
        elif line.serial is not None and line.lot_number is None:
            parts = [by_serial.get((article_id, line.serial)) or ledger.part_of_serial(article_id, line.serial)]
        elif expands and line.counted_quantity is None:
            parts = ledger.parts(article_id, PartKey(line.lot_number, line.serial))
        else:
            parts = [PartKey(line.lot_number, line.serial)]
        for goods in parts:
            first = seen.setdefault((article_id, goods), number)
            if first != number:
                errors.append(invalid_field(path, f"has the same goods as line {first}"))
                break
            yield Entry(path, line, by_part.get((article_id, goods)) or ledger.line(article_id, goods))


def _impossible_lines(tx: Transaction, entries: Sequence[Entry]) -> Iterator[FieldError]:
    """Yield an error for each sent value that is impossible in a count, such as a quantity of 2 for a serial."""
    found = articles_store.references(tx, {entry.row["article_id"] for entry in entries}, ())
    with_serials = {article.id for article in found if article.tracks_serials}
    for path, line, row in entries:
        quantity, has_serials = line.counted_quantity, row["article_id"] in with_serials
        if line.seen_at is not None and line.seen_at > tx.timestamp:
            yield invalid_field(f"{path}.seen_at", f"is in the future: the server's clock says {tx.timestamp}")
        if row["serial"] and not has_serials and not row["expected_quantity"]:
            yield invalid_field(f"{path}.serial", "must be empty: the article is not tracked by serials")
        if quantity is None:
            if line.counted_at is not None and row["counted_quantity"] is None:
                yield invalid_field(f"{path}.counted_quantity", "is required if `counted_at` is sent")
        elif row["serial"] is not None and quantity not in (0, SCALE):
            yield invalid_field(f"{path}.counted_quantity", "must be 1, or 0 if the serial was not found")
        elif has_serials and quantity % SCALE:
            yield invalid_field(
                f"{path}.counted_quantity", "must be a whole number: the article is tracked by serials"
            )


def _is_new_count(entry: Entry) -> bool:
    """Return True if the sent line reports a new count.

    A line without a counted quantity is not a new count. A line with a counted quantity is a new count if it has
    `seen_at`, or if its quantity or `counted_at` differs from the stored line. If nothing differs, it is a new
    count only if the line must be counted again and has no read-only fields. Read-only fields show that the client
    has sent back a line that it received.
    """
    line, row = entry.sent, entry.row
    if line.counted_quantity is None:
        return False
    sent = line.model_fields_set
    is_same = all(getattr(line, name) == row[name] for name in NUMBER if name in sent) and line.seen_at is None
    is_shown = not ONLY_SHOWN.isdisjoint(sent)
    return not is_same or (bool(row["count_again"]) and not is_shown)


def _entered(tx: Transaction, entries: Sequence[Entry], counted: Sequence[bool], ledger: Ledger) -> list[Row]:
    """Return the line of the count for each entry, with the sent values, in the form to store. `counted` says for
    each entry whether it is a new count.
    """
    moved = ledger.moved([(entry.row, entry.sent.seen_at) for entry in entries])
    rows = []
    for (_, line, row), is_counted, has_moved in zip(entries, counted, moved, strict=True):
        if is_counted:
            now = {
                "counted_quantity": line.counted_quantity,
                "counted_at": line.counted_at,
                "arrived_at": tx.timestamp,
                "ledger_quantity": ledger.quantity(row["article_id"], part_of(row)),
                "last_movement": ledger.last_movement,
                "count_again": int(has_moved),
            }
        elif "counted_quantity" in line.model_fields_set and line.counted_quantity is None:
            now = NOT_COUNTED
        else:
            now = {}
        rows.append({**row, **now})
    return rows


def _merged(before: Sequence[Row], entered: Sequence[Row]) -> list[Row]:
    """Return the stored lines `before` with the values of the `entered` lines. New lines come last."""
    by_id = {row["id"]: row for row in entered}
    new = [row for row in entered if row["id"] is None]
    return [*(by_id.get(row["id"], row) for row in before), *new]


def _too_many(rows: Sequence[Row]) -> Iterator[FieldError]:
    if len(rows) > MAX_LINES:
        sentence = (
            f"are too many ({len(rows)}): a count has at most {MAX_LINES}. Create several counts, or import "
            "the count from a file"
        )
        yield invalid_field("lines", sentence)
