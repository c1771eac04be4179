"""Actions on documents. This file declares the moves, which change the status of a document.

The kind of document determines the fields of the forms. If a later move can undo a move, the button runs the move
immediately. Otherwise a page first asks the person to confirm the move.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple, get_args

from wmsd.contract.fields import SentBack
from wmsd.interfaces.pages.kit.acts import Act, Resource
from wmsd.interfaces.pages.kit.count_acts import COUNT_ACTS, NOT_ENTERED
from wmsd.warehouse.counts.kind import COUNTS
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.warehouse.receptions.kind import RECEPTIONS
from wmsd.warehouse.returns.kind import RETURNS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS
from wmsd.warehouse.transports.actions import list_order_transports

PACKAGING: Final = "packaging"


class Move(NamedTuple):
    """A change of a document's status, from one of `statuses` to the status `to`.

    `done` is the message after the change. `says` is the text above the button, if a page asks before the change.
    """

    name: str
    """The name in addresses."""
    text: str
    statuses: tuple[str, ...]
    to: str
    done: str
    says: str = ""
    is_next: bool = False
    """True if the move is the next step of the work."""
    takes_packaging: bool = False


class Link(NamedTuple):
    """A link to the form that creates a document of `kind` from a document in one of `statuses`.

    The address of the form has the query parameter `parameter` with the id of the existing document.
    """

    name: str
    text: str
    statuses: tuple[str, ...]
    kind: DocumentKind
    parameter: str
    is_next: bool = False


class Work(NamedTuple):
    """The work on one kind of document: its statuses, moves and further actions.

    `path` is the normal sequence of statuses. `later` lists the fields of lines that can still change after the
    other fields of lines are fixed. `leading` lists the fields that most people fill in. `then` is the move that
    usually follows the creation of a document, and the text of its button. `acts` are actions that only this kind
    of document has.
    """

    path: tuple[str, ...]
    moves: tuple[Move, ...]
    links: tuple[Link, ...] = ()
    later: frozenset[str] = frozenset()
    leading: tuple[str, ...] = ()
    then: tuple[str, str] | None = None
    acts: tuple[Act, ...] = ()
    not_asked: frozenset[str] = frozenset()
    """The fields of lines that no form asks for."""
    says: str = ""
    """The text above the form for a new document."""
    in_parts: bool = False
    """True if the form for changes leaves out the lines, because people change the lines with separate actions."""


WORK: Final[Mapping[str, Work]] = {
    SALES_ORDERS.name: Work(
        ("CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT"),
        (
            Move("start", "Start work", ("CREAT",), "IN_LUCRU", "Work on the order has started.", is_next=True),
            Move(
                "load",
                "Load",
                ("IN_LUCRU",),
                "INCARCAT",
                "The order is loaded: its goods have left the stock.",
                is_next=True,
                takes_packaging=True,
            ),
            Move(
                "deliver",
                "Deliver",
                ("INCARCAT",),
                "LIVRAT",
                "The order is delivered.",
                "A delivered order stays delivered. If goods come back, create a return.",
                is_next=True,
            ),
            Move("back", "Back to Created", ("IN_LUCRU",), "CREAT", "The order is back in Created."),
            Move(
                "unload",
                "Unload",
                ("INCARCAT",),
                "IN_LUCRU",
                "The order is unloaded: its goods are back in stock, and reserved again.",
            ),
            Move(
                "cancel",
                "Cancel order",
                ("CREAT", "IN_LUCRU"),
                "ANULAT",
                "The order is cancelled.",
                "You cannot undo this. The goods reserved for the order become available.",
            ),
        ),
        (Link("return", "Return goods", ("INCARCAT", "LIVRAT"), RETURNS, "sales_order"),),
        leading=("partner", "warehouse", "requested_date", "customer_reference"),
    ),
    PURCHASE_ORDERS.name: Work(
        ("CREAT", "PARTIAL", "RECEPTIONAT"),
        (
            Move(
                "close",
                "Close without the rest",
                ("PARTIAL",),
                "RECEPTIONAT",
                "The order is closed: the missing goods are not expected any more.",
                (
                    "wmsd does not expect the missing goods any more, and you cannot receive them for this "
                    "order. The order gets the status Received. You cannot undo this."
                ),
            ),
            Move(
                "cancel",
                "Cancel order",
                ("CREAT",),
                "ANULAT",
                "The order is cancelled.",
                "A cancelled order stays cancelled. No goods can be received for the order.",
            ),
        ),
        (Link("receive", "Receive", ("CREAT", "PARTIAL"), RECEPTIONS, "purchase_order", is_next=True),),
        leading=("partner", "warehouse", "expected_date"),
    ),
    RECEPTIONS.name: Work(
        ("CREAT", "IN_LUCRU", "FINALIZAT"),
        (
            Move("start", "Start work", ("CREAT",), "IN_LUCRU", "Work on the reception has started."),
            Move(
                "finish",
                "Finish",
                ("CREAT", "IN_LUCRU"),
                "FINALIZAT",
                "The reception is finished: its goods are in stock.",
                "The goods come into stock. A finished reception cannot be changed any more.",
                is_next=True,
                takes_packaging=True,
            ),
            Move(
                "cancel",
                "Cancel reception",
                ("CREAT", "IN_LUCRU"),
                "ANULAT",
                "The reception is cancelled.",
                "A cancelled reception stays cancelled. The goods can be received with another reception.",
            ),
        ),
        leading=("purchase_order", "warehouse", "transport_ecc"),
        then=("finish", "Receive and finish"),
        says=(
            "Check the quantities. Clear the quantity of goods that did not arrive. The goods come "
            "into stock when the reception is finished."
        ),
    ),
    RETURNS.name: Work(
        ("CREAT", "RECEPTIONAT", "FINALIZAT"),
        (
            Move(
                "receive",
                "Receive",
                ("CREAT",),
                "RECEPTIONAT",
                "The return is received. Now choose what happens to the goods of each line, and finish the "
                "return.",
                (
                    "The goods have arrived. After this step, the goods and quantities of the lines cannot "
                    "change. You can still choose what happens to the goods."
                ),
                is_next=True,
            ),
            Move(
                "finish",
                "Finish",
                ("RECEPTIONAT",),
                "FINALIZAT",
                "The return is finished.",
                (
                    "Every line must say what happens to its goods. Goods to restock or quarantine come "
                    "into stock; goods to destroy do not. You cannot change a finished return."
                ),
                is_next=True,
            ),
            Move(
                "cancel",
                "Cancel return",
                ("CREAT",),
                "ANULAT",
                "The return is cancelled.",
                "A cancelled return stays cancelled.",
            ),
        ),
        later=frozenset({"disposition"}),
        leading=("partner", "warehouse", "sales_order", "reason"),
    ),
    COUNTS.name: Work(
        ("CREAT", "IN_LUCRU", "FINALIZAT"),
        (
            Move(
                "cancel",
                "Cancel count",
                ("CREAT", "IN_LUCRU"),
                "ANULAT",
                "The count is cancelled.",
                "A cancelled count stays cancelled. Stock stays as it is.",
            ),
        ),
        leading=("warehouse", "article_search", "is_blind"),
        says="To count the whole warehouse, fill in only the warehouse.",
        acts=COUNT_ACTS,
        not_asked=NOT_ENTERED | {"lines.counted_quantity", "lines.id"},
        in_parts=True,
    ),
}
"""The work on documents, by the name of the kind."""
UNDER: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    SALES_ORDERS.name: (("stock", "sales_order_id"), (RETURNS.name, "sales_order_id")),
    PURCHASE_ORDERS.name: ((RECEPTIONS.name, "purchase_order_id"),),
}
"""The resources that are listed on the page of a document, by the kind of the document (see `Resource.under`)."""

BESIDE: Final = {SALES_ORDERS.name: (("Transports", list_order_transports),)}
"""The additional lists on the page of a document, by the kind of the document (see `Resource.beside`)."""


def _of_documents(kind: DocumentKind) -> Resource:
    table, reading = kind.table, kind.reading
    return Resource(
        kind.name,
        f"{table.noun}s".capitalize(),
        reading.by_page,
        reading.by_cursor,
        kind.listed,
        reading.one,
        sort="-id",
        acts=(*_forms(kind), *WORK[kind.name].acts, *_moves(kind), *_links(kind)),
        changes=reading.changes,
        under=UNDER.get(kind.name, ()),
        beside=BESIDE.get(kind.name, ()),
        path=WORK[kind.name].path,
        open_statuses=tuple(each for each in table.statuses if kind.transitions.allowed_from(each)),
        of_article=reading.of_article if table.by_article else None,
        due=table.due,
    )


def _forms(kind: DocumentKind) -> tuple[Act, Act]:
    noun, statuses = kind.table.noun, kind.table.statuses
    may_change = frozenset(status for status in statuses if kind.transitions.may_change(status, _fields(kind)))
    work = WORK[kind.name]
    without = frozenset({"status", PACKAGING}) | work.not_asked
    of_both = partial(Act, shown=partial(_shown, kind), leading=work.leading)
    return (
        of_both(
            "new",
            f"New {noun}",
            kind.writing.create,
            says=work.says,
            done=f"{noun.capitalize()} created.",
            without=without,
            then=work.then,
        ),
        of_both(
            "change",
            "Change",
            kind.writing.update,
            done=f"The {noun} is changed.",
            changes=True,
            without=without | ({kind.table.lines} if work.in_parts else frozenset()),
            statuses=may_change,
            frozen=partial(_frozen, kind),
        ),
    )


def _fields(kind: DocumentKind) -> tuple[str, ...]:
    return (*kind.table.fields, kind.table.lines)


def _frozen(kind: DocumentKind, status: str) -> frozenset[str]:
    """Return the fields that cannot change in this status. The form does not ask for these fields.

    Lines stay in the form if some of their fields can still change.
    """
    lines = {kind.table.lines} if _changes_later(kind, status) else set()
    return frozenset(_fields(kind)) - kind.transitions.may_change(status, _fields(kind)) - lines


def _changes_later(kind: DocumentKind, status: str) -> bool:
    transitions = kind.transitions
    is_later = status in transitions.fields_change_in and status not in transitions.lines_change_in
    return bool(WORK[kind.name].later) and is_later


def _shown(kind: DocumentKind, status: str | None) -> frozenset[str]:
    """Return the fields of lines that the form displays, but that people cannot change.

    Some of these fields are only in answers. The others cannot change any more in this status.
    """
    lines = kind.table.lines
    (line,) = get_args(kind.table.body.model_fields[lines].annotation)
    names = {name for name, each in line.model_fields.items() if SentBack in each.metadata}
    if status is not None and _changes_later(kind, status):
        names |= line.model_fields.keys() - WORK[kind.name].later - {"id"}
    return frozenset(f"{lines}.{name}" for name in names)


def _moves(kind: DocumentKind) -> tuple[Act, ...]:
    fields = frozenset(kind.writing.update.body.model_fields) if kind.writing.update.body else frozenset()
    moves = WORK[kind.name].moves
    return tuple(
        Act(
            move.name,
            move.text,
            kind.writing.update,
            move.says,
            move.done,
            is_final=not kind.transitions.allowed_from(move.to),
            is_direct=bool(_undoing(moves, move)),
            without=fields - ({PACKAGING} if move.takes_packaging else frozenset()),
            fixed={"status": move.to},
            statuses=frozenset(move.statuses),
            next_in=frozenset(move.statuses if move.is_next else ()),
            takes_packaging=move.takes_packaging,
            takes_many=True,
            undone_by=_undoing(moves, move),
        )
        for move in moves
    )


def _undoing(moves: tuple[Move, ...], move: Move) -> str:
    """Return the name of the move that undoes this move, or ""."""
    return next((each.name for each in moves if move.to in each.statuses and each.to in move.statuses), "")


def _links(kind: DocumentKind) -> tuple[Act, ...]:
    return tuple(
        Act(
            link.name,
            link.text,
            link.kind.writing.create,
            statuses=frozenset(link.statuses),
            next_in=frozenset(link.statuses if link.is_next else ()),
            leads_to=f"{link.kind.name}/new?{link.parameter}={{id}}",
        )
        for link in WORK[kind.name].links
    )


DOCUMENT_RESOURCES: Final = tuple(map(_of_documents, DOCUMENTS))
