"""The import of articles. A row with a new code creates an article. A row with a known code changes that article.

The rules and the events are the same as for the creation and change of a single article.
"""

from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from wmsd.base.problems import FieldErrors, Problem
from wmsd.contract.bulk_imports import Import, Outcome, Progress, Row, chunks
from wmsd.contract.validation import field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.staged_rows import make_tables
from wmsd.db.sql.statements import column_values
from wmsd.events.outbox.events import record_events
from wmsd.warehouse.articles import article_staging, store
from wmsd.warehouse.articles.schema import ArticleChanges
from wmsd.warehouse.articles.tracking_rules import Obstacles
from wmsd.warehouse.directory import store as directory


class ArticleImport(Import):
    """The import of a file of articles. The columns are the fields of an article, but with `client_code` instead
    of `client_id`. Each step handles all rows together.
    """

    checks_all = True

    def __init__(self) -> None:
        self._sent: set[str] = set()
        self._last_change: int | None = None
        self._clients: Mapping[str, int] = {}

    def gather(self, tx: Transaction, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        make_tables(tx, schema, article_staging.TABLES)
        count = 0
        for chunk in chunks(rows):
            article_staging.add(tx, [self._staged(row, outcome) for row in chunk])
            count += len(chunk)
        for name in ("code", "external_ref"):
            for line, first in article_staging.repeated_lines(tx, name):
                outcome.refuse(line, {name: [f"is given twice; first in row {first}"]})
        return count

    def _staged(self, row: Row, outcome: Outcome) -> tuple[object, ...]:
        values = dict(row.values)
        self._sent |= values.keys()
        client_code = values.pop("client_code", None)
        errors: FieldErrors = {} if "code" in values else {"code": ["is required"]}
        try:
            given = column_values(ArticleChanges.model_validate(values).given())
        except ValidationError as error:
            errors |= field_errors(error)
        if errors:  # these values are stored all the same, to find the rows that repeat them
            outcome.refuse(row.line, errors)
            given = {name: values[name] for name in ("code", "name", "external_ref") if name in values}
        return (row.line, *(given.get(name) for name in article_staging.GIVEN), client_code, bool(errors))

    def check(self, tx: Transaction, outcome: Outcome) -> None:
        """Check the rows. This method is called twice. If no client and no article of the file has changed since
        the first call, the second call checks only the tracking by serials.
        """
        is_new = not self._is_as_before(tx)
        if is_new:
            _check_references(tx, outcome)
        for line, errors in _serials_refused(tx):
            outcome.refuse(line, errors)
        if is_new and not outcome.errors:
            article_staging.number(tx)
            outcome.created, outcome.updated, outcome.unchanged = article_staging.compare(tx, self._sent)

    def _is_as_before(self, tx: Transaction) -> bool:
        """Return True if no client and no article of the file has changed since the previous call."""
        before, self._last_change = self._last_change, tx.last_change()
        clients, self._clients = self._clients, self._clients_now(tx)
        return (
            before is not None and clients == self._clients and not article_staging.is_concerned_since(tx, before)
        )

    def _clients_now(self, tx: Transaction) -> Mapping[str, int]:
        """Return the ids of all clients by code, or an empty mapping if the file has no client codes."""
        return directory.ids_by_code(tx, directory.CLIENTS) if "client_code" in self._sent else {}

    def write(self, tx: Transaction, outcome: Outcome, progress: Progress) -> None:
        if not outcome.created and not outcome.updated:
            return
        last_id = store.last_id(tx)
        before = article_staging.apply(tx, self._sent, progress)
        if outcome.created:
            record_events(tx, "article.created", store.CREATED_AFTER, {"last_id": last_id})
        if outcome.updated:
            record_events(
                tx, "article.updated", article_staging.UPDATED_AFTER, {"before": before, "last_id": last_id}
            )


def _check_references(tx: Transaction, outcome: Outcome) -> None:
    article_staging.find_known(tx)
    for line, errors in article_staging.refused(tx):
        outcome.refuse(line, errors)


def _serials_refused(tx: Transaction) -> Iterator[tuple[int, FieldErrors]]:
    obstacles = tx.service(Obstacles)
    for current in article_staging.tracked_otherwise(tx):
        try:
            obstacles.check(tx, current.article_id, current.track_serial, current.wanted)
        except Problem as problem:
            yield current.line, problem.errors
