"""The command `wmsd reception`."""

from wmsd.interfaces.cli.records.document_commands import document_command, with_packaging
from wmsd.warehouse.receptions.kind import RECEPTIONS
from wmsd.warehouse.receptions.rules import FINAL

reception_command = document_command(
    RECEPTIONS, *with_packaging(RECEPTIONS.change, f"comes in from the supplier with the move to {FINAL}")
)
