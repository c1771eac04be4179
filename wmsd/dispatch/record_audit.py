"""The audit entries for the changes that people make to the records of a company.

The record is in the company's file, and the audit is in `platform.db`. wmsd first writes the change to the
company's file, and then the audit entry. Changes by programs are not audited: events and ledgers record them, and
a person could not read so many entries.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Mapping
from typing import Any, Final, TypeVar

from wmsd.base.dataclass import dataclass
from wmsd.contract.context import Actor, Caller
from wmsd.contract.fields import Input, Recorded
from wmsd.contract.operation import Operation
from wmsd.contract.results import Record
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch import masking
from wmsd.dispatch.masking import MASK, is_sealed
from wmsd.tenants.companies import store as companies

Result = TypeVar("Result")
LOG = logging.getLogger("wmsd.audit")
NOT_AUDITED: Final = Recorded.READ_ONLY | {"last_delivery", "warnings"}
LONGEST_VALUE: Final = 500
"""The maximum length of a value in the audit, in characters. Longer values are cut, because the audit is not a
second copy of the records.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    action: str
    subject: str
    details: Mapping[str, object]
    record: companies.AuditedRecord


def is_by_a_person(caller: Caller | None) -> bool:
    return caller is not None and caller.session_id is not None


def act_and_audit(
    tx: Transaction, operation: Operation, company_code: str, inputs: Mapping[str, Any]
) -> tuple[Any, Entry | None]:
    """Run the audited operation. Return its result and the audit entry. The entry is None if nothing changed."""
    assert operation.audited is not None
    before: dict[str, Any] = {}
    record: Record | None = None
    if operation.precondition is not None:
        named = {name: inputs[name] for name in (*operation.path_types, "company") if name in inputs}
        record = operation.precondition(tx, **named)
        before = _fields(record)
    result = operation.action(tx, **inputs)
    after = {} if result is None else _fields(result)
    changed: dict[str, Any] = companies.field_differences(before, after) if before else {}
    changed |= _credentials(inputs.get("body")) if before else {}
    if before and after and not changed:
        return result, None
    record = record or result
    assert record is not None
    shown = before or after
    subject = " ".join(filter(None, (company_code, shown.get("code") or shown["name"])))
    details = {name: {when: _cut(value) for when, value in each.items()} for name, each in changed.items()}
    kind = kind_of(operation.audited)
    return result, Entry(
        operation.audited, subject, details, companies.AuditedRecord(company_code, kind, record.id)
    )


def kind_of(action: str) -> str:
    """Return the kind of record that an audit action is about, such as `article` for `article.change`."""
    return action.partition(".")[0]


def _fields(record: Record) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(record.json)
    return {name: value for name, value in shown.items() if name not in NOT_AUDITED}


def _credentials(body: Input | None) -> dict[str, Any]:
    """Return a masked audit value for each credential that `body` sets. The audit does not show whether the
    credential has changed.
    """
    if body is None:
        return {}
    sealed = [name for name, value in body.given().items() if value is not None and is_sealed(type(body), name)]
    return {name: {"before": MASK, "after": MASK} for name in sealed}


def _cut(value: object) -> object:
    if isinstance(value, str):
        value = masking.text(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


async def write_audit_entry(platform: Database, entry: Entry, actor: Actor | None = None) -> None:
    await platform.write(
        lambda tx: companies.write_audit(tx, entry.action, entry.subject, entry.details, record=entry.record),
        actor,
        is_quiet=True,
    )


@dataclass(slots=True)
class Noted:
    """The audit entry that a unit of work creates. If the unit of work runs again, the new entry replaces the old
    one.
    """

    entry: Entry | None = None


class RecordAudit:
    """Writes the audit entry after the change. The entry is written even if the caller stops waiting for the
    answer.
    """

    def __init__(self, platform: Database) -> None:
        self._platform = platform
        self._under_way: set[asyncio.Task[Any]] = set()

    def after(self, begun: Awaitable[Result], noted: Noted, actor: Actor) -> Awaitable[Result]:
        """Wait for the unit of work `begun`, which sets an audit entry in `noted`. Write this entry, and return
        the result of the unit of work.

        The result is returned even if the entry cannot be written, because the change is already committed.
        """

        async def work() -> Result:
            result = await begun
            if noted.entry is not None:
                try:
                    await write_audit_entry(self._platform, noted.entry, actor)
                except STORAGE_FAILURES as error:
                    LOG.error(
                        "%s by %s could not be written to the audit: %s", noted.entry.action, actor.name, error
                    )
            return result

        task = asyncio.ensure_future(work())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return asyncio.shield(task)

    async def end(self) -> None:
        """Wait until all pending audit entries are written."""
        if self._under_way:
            await asyncio.wait(self._under_way)
