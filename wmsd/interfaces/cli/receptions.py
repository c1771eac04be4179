"""`wmsd reception`."""

from wmsd.interfaces.cli.documents import WAREHOUSE, DocumentKind, document_command, documents
from wmsd.interfaces.cli.moved_packaging import packaging_option, with_packaging
from wmsd.purchase_orders.store import ORDERS
from wmsd.receptions.actions import change
from wmsd.receptions.rules import FINAL, MOVES, STATUSES
from wmsd.receptions.schema import ReceptionQuery
from wmsd.receptions.store import RECEPTIONS

reception_command = document_command(
    DocumentKind(
        table=RECEPTIONS,
        moves=MOVES,
        statuses=STATUSES,
        query=ReceptionQuery,
        references={"purchase_order": documents(ORDERS), "warehouse": WAREHOUSE},
        filters=("purchase_order",),
        columns=("code", "status", "purchase_order", "warehouse", "selected_items", "external_ref", "updated_at"),
        move=with_packaging(change),
        move_options=(packaging_option(f"comes in from the supplier with the move to {FINAL}"),),
    )
)
