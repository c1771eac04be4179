"""The command `wmsd count`."""

from wmsd.interfaces.cli.records.document_commands import document_command
from wmsd.warehouse.counts.kind import COUNTS

count_command = document_command(COUNTS)
