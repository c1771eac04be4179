"""History cuts: the points in a company's history after which events may be missing. Lists of events report them
(decisions, section 11).
"""

from typing import Annotated, Final

from pydantic import Field

from wmsd.contract.fields import Model, Timestamp, choice_of

REASONS: Final = ("restore", "replica", "import", "copy", "older_file")
"""The reasons for a new epoch of a company's history, apart from the creation of the company."""


class HistoryCut(Model):
    """A point in the history after which events may be missing, because the company was restored."""

    epoch: Annotated[str, Field(description="The epoch that begins after the cut.")]
    reason: Annotated[str, choice_of("CutReason", REASONS)]
    kept_up_to: Annotated[
        Timestamp, Field(description="Events after this time in the previous epoch may be missing.")
    ]
    restored_at: Annotated[Timestamp, Field(description="The date and time of the restore.")]
