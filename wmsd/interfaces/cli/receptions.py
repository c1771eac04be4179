"""`wmsd reception`."""

from wmsd.interfaces.cli.documents import document_command
from wmsd.interfaces.cli.moved_packaging import with_packaging
from wmsd.receptions.kind import RECEPTIONS
from wmsd.receptions.rules import FINAL

reception_command = document_command(
    RECEPTIONS, with_packaging(RECEPTIONS.change, f"comes in from the supplier with the move to {FINAL}")
)
