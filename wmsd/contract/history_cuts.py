"""How a list of what happened tells that the company's history was cut (decisions, section 11)."""

from typing import Annotated, Final

from pydantic import Field

from wmsd.contract.fields import Model, Timestamp, choice_of

REASONS: Final = ("restore", "replica", "import", "copy", "older_file")
"""Why an epoch begins, beside that of a new company."""


class HistoryCut(Model):
    """A place in a history where what followed is gone, since the company was restored."""

    epoch: Annotated[str, Field(description="The epoch that begins there.")]
    reason: Annotated[str, choice_of("CutReason", REASONS)]
    kept_up_to: Annotated[Timestamp, Field(description="What happened later in the epoch before may be gone.")]
    restored_at: Annotated[Timestamp, Field(description="When that was done.")]
