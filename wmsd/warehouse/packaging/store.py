"""The SQL of returnable packaging."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import CursorQuery, PageQuery
from wmsd.contract.results import CursorPage, Page
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import creation_columns
from wmsd.db.sql.code_series import next_code
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import record_sql
from wmsd.db.sql.statements import insert_sql
from wmsd.warehouse.directory.store import DirectoryKind
from wmsd.warehouse.packaging.schema import (
    PackagingBalance,
    PackagingBalanceFilters,
    PackagingMovement,
    PackagingMovementFilters,
    PackagingMovementRecorded,
    PackagingMovementWithRecorder,
    PackagingType,
    PackagingTypeFields,
    PackagingTypeQuery,
)

SERIES: Final = "PM"
"""The series from which movements get their codes."""
TYPES: Final = DirectoryKind(
    "packaging type", "packaging_types", PackagingTypeFields, PackagingType, PackagingTypeQuery
)
OF_TYPE: Final = "(SELECT {} FROM packaging_types WHERE packaging_types.id = packaging_type_id)"
NAMED: Final = {"packaging_type_code": OF_TYPE.format("code"), "packaging_type_name": OF_TYPE.format("name")}
"""The SQL of the code and the name of the packaging type. These are subqueries, which run only for returned
records. A join would also run for filters and totals, and slow them down.
"""
BALANCE: Final = record_sql(PackagingBalance, NAMED)
MOVEMENT: Final = record_sql(PackagingMovement, NAMED)
MOVEMENT_WITH_RECORDER: Final = record_sql(PackagingMovementWithRecorder, NAMED)
OF_CODE: Final = "packaging_type_id = (SELECT id FROM packaging_types WHERE code = :packaging_type_code)"
BALANCES: Final = Listing(
    source="packaging_balances",
    order="id",
    filters=conditions(PackagingBalanceFilters, packaging_type_code=OF_CODE, since="change_seq >= :since"),
    count="packaging_balances",
)
MOVEMENTS: Final = Listing(
    source="packaging_movements",
    order="id",
    filters=conditions(PackagingMovementFilters, packaging_type_code=OF_CODE, since="occurred_at >= :since"),
    count="packaging_movements",
)


def balances_after(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    return BALANCES.after(tx, BALANCE, query, position, query.filters())


def balances_page(tx: Transaction, query: PageQuery) -> Page:
    return BALANCES.page(tx, BALANCE, query, query.filters())


def movements_after(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    return MOVEMENTS.after(tx, MOVEMENT, query, position, query.filters())


def movements_after_with_recorders(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    return MOVEMENTS.after(tx, MOVEMENT_WITH_RECORDER, query, position, query.filters())


def movements_page(tx: Transaction, query: PageQuery) -> Page:
    return MOVEMENTS.page(tx, MOVEMENT, query, query.filters())


ALL_MOVEMENTS: Final = f"SELECT {MOVEMENT} FROM packaging_movements ORDER BY id"


def every_movement(tx: Transaction) -> Iterator[str]:
    """Yield every movement as JSON text, for exports."""
    return (row[0] for row in tx.execute(ALL_MOVEMENTS))


TYPES_NAMED: Final = """
    SELECT id, code FROM packaging_types WHERE id IN (SELECT value FROM json_each(:ids))
    UNION
    SELECT id, code FROM packaging_types WHERE code IN (SELECT value FROM json_each(:codes))
"""


def types_named(tx: Transaction, ids: Iterable[int], codes: Iterable[str]) -> dict[int, str]:
    """Return the codes of the packaging types that have one of these `ids` or `codes`, by id."""
    return dict(tx.rows(TYPES_NAMED, {"ids": dumps(list(ids)), "codes": dumps(list(codes))}))


BALANCE_OF: Final = "SELECT quantity FROM packaging_balances WHERE packaging_type_id = ? AND partner_id = ?"
ADD_TO_BALANCE: Final = """
    UPDATE packaging_balances
    SET quantity = quantity + :quantity, change_seq = :change_seq, updated_at = :updated_at
    WHERE packaging_type_id = :packaging_type_id AND partner_id = :partner_id
"""
INSERT_BALANCE: Final = insert_sql(
    "packaging_balances",
    ("packaging_type_id", "partner_id", "quantity", "change_seq", "created_at", "updated_at"),
)
"""Inserts a balance. It runs only if `ADD_TO_BALANCE` has found no row. One statement with ON CONFLICT is not
used, because it uses up an id with every update.
"""


def balance(tx: Transaction, type_id: int, partner_id: int) -> int:
    """Return the balance in millionths, or 0 if this type of packaging never moved to or from the partner."""
    return tx.value(BALANCE_OF, (type_id, partner_id)) or 0


CONTENT: Final = """
    SELECT packaging_types.code AS packaging_type_code, partners.code AS partner_code, direction, quantity,
        occurred_at, notes
    FROM packaging_movements
    CROSS JOIN packaging_types ON packaging_types.id = packaging_type_id
    CROSS JOIN partners ON partners.id = partner_id
    WHERE packaging_movements.code = ?
"""


def content_of_code(tx: Transaction, code: str) -> dict[str, Any] | None:
    """Return the movement with this code in the form of `PackagingMovementFields`, or None if there is none."""
    return tx.record(CONTENT, (code,))


INSERT_MOVEMENT: Final = insert_sql(
    "packaging_movements",
    (
        *("code", "packaging_type_id", "partner_id", "direction", "quantity", "document_type", "document_id"),
        *("occurred_at", "notes", "actor", "created_at", "updated_at"),
    ),
)


def post(tx: Transaction, movement: Mapping[str, Any], change: int) -> int:
    """Insert a movement into the ledger, and add `change` to the balance. `change` may be negative. Return the id
    of the movement.
    """
    now = tx.timestamp
    place = {name: movement[name] for name in ("packaging_type_id", "partner_id")}
    values = {**place, "quantity": change, **creation_columns(tx)}
    if not tx.execute(ADD_TO_BALANCE, values).rowcount:
        tx.execute(INSERT_BALANCE, values)
    row = {
        **movement,
        "code": movement["code"] or next_code(tx, SERIES, "SELECT id FROM packaging_movements WHERE code = ?"),
        "occurred_at": movement["occurred_at"] or now,
    }
    return tx.insert(INSERT_MOVEMENT, {**row, "actor": tx.actor.name, "created_at": now, "updated_at": now})


RECORDED: Final = f"""
    SELECT {record_sql(PackagingMovementRecorded, NAMED)} FROM (
        SELECT packaging_movements.*, packaging_balances.quantity AS balance
        FROM packaging_movements CROSS JOIN packaging_balances USING (packaging_type_id, partner_id)
        WHERE packaging_movements.id = ?
    )
"""


def recorded_data(tx: Transaction, movement_id: int) -> str:
    """Return the data of the event `packaging.movement_recorded` as JSON: the movement, and the current balance of
    its packaging type with its partner.
    """
    return tx.text(RECORDED, (movement_id,))


OWED: Final = "iif(direction = 'OUT', quantity, -quantity)"
"""The SQL of a movement's change of the balance. It is positive for OUT, because the partner then owes more."""
NET_OF_DOCUMENT: Final = f"""
    SELECT packaging_type_id, partner_id, sum({OWED}) AS net
    FROM packaging_movements WHERE document_type = ? AND document_id = ?
    GROUP BY packaging_type_id, partner_id HAVING net <> 0 ORDER BY packaging_type_id, partner_id
"""


def net_of_document(tx: Transaction, document_type: str, document_id: int) -> list[tuple[int, int, int]]:
    """Return the packaging that moved with the document, by type and partner. Movements in opposite directions
    cancel out.

    Each item is (id of the packaging type, id of the partner, OUT minus IN in millionths).
    """
    return tx.rows(NET_OF_DOCUMENT, (document_type, document_id))
