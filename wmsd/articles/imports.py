"""Articles in bulk: new codes are created, known ones changed, by the rules and with the events of single ones."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from wmsd.articles import actions, store
from wmsd.articles.schema import ArticleChanges, ArticleFields
from wmsd.base.importing import FirstSeen, Outcome, Row, chunks, missing
from wmsd.base.problems import Problem
from wmsd.base.strict_json import dumps
from wmsd.base.validation import field_errors
from wmsd.db.table import stored
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.outbox.events import record_events

REQUIRED: Final = ("code", "name")
DEFAULTS: Final = stored(ArticleFields.model_construct(code="", name="").model_dump())


def import_articles(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """Rows of article fields, with `client_code` for the client."""
    clients = directory.ids_by_code(tx, directory.CLIENTS)
    codes, external_refs = FirstSeen(), FirstSeen()
    last_id = store.last_id(tx)
    for chunk in chunks(rows):
        known = store.columns_by_code(tx, dumps([row.values["code"] for row in chunk if "code" in row.values]))
        checked = [
            (row.line, given)
            for row in chunk
            if (given := _checked(row, known, clients, codes, external_refs, outcome)) is not None
        ]
        taken = store.codes_by_external_ref(
            tx, dumps([given["external_ref"] for _, given in checked if given.get("external_ref")])
        )
        created: list[tuple[object, ...]] = []
        for line, given in checked:
            current = known.get(given["code"])
            if current is not None:
                _change(tx, line, current, given, outcome)
                continue
            if taken.get(given.get("external_ref") or "", given["code"]) != given["code"]:
                outcome.refuse(line, {"external_ref": ["is taken by another article"]})
                continue
            values = {**DEFAULTS, **given}
            created.append(tuple(values[name] for name in store.COLUMNS))
        if created and not outcome.errors:
            store.insert_many(tx, created)
            outcome.created += len(created)
    if outcome.created:
        record_events(tx, "article.created", store.CREATED_AFTER, {"last_id": last_id})


def _checked(
    row: Row,
    known: Mapping[str, object],
    clients: dict[str, int],
    codes: FirstSeen,
    external_refs: FirstSeen,
    outcome: Outcome,
) -> dict[str, Any] | None:
    """The row's columns as they are stored; None when it has errors."""
    values = dict(row.values)
    errors = missing(("code",) if values.get("code") in known else REQUIRED, values)
    if "client_code" in values:
        client_code = values.pop("client_code")
        values["client_id"] = clients.get(str(client_code)) if client_code is not None else None
        if client_code is not None and values["client_id"] is None:
            errors["client_code"] = ["is not a client of this company"]
    try:
        given = stored(ArticleChanges.model_validate(values).given())
    except ValidationError as error:
        errors |= field_errors(error)
        given = {}
    for column, seen in (("code", codes), ("external_ref", external_refs)):
        before = seen.line_before(values[column], row.line) if values.get(column) else None
        if before is not None:
            errors[column] = [f"is given twice; first in row {before}"]
    if errors:
        outcome.refuse(row.line, errors)
        return None
    return given


def _change(tx: Transaction, line: int, current: dict[str, Any], given: dict[str, Any], outcome: Outcome) -> None:
    if all(current[name] == value for name, value in given.items()):
        outcome.unchanged += 1
        return
    try:
        actions.change(tx, current["id"], given)
        outcome.updated += 1
    except Problem as problem:
        outcome.refuse(line, problem.errors)
