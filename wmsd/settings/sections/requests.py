"""[requests]: the history of the latest requests."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Requests(Section):
    """The history of each company's latest requests, which the pages show to people who build integrations."""

    keep: Annotated[bool, Field(description="Keep them, with their bodies. Secrets in them are never kept.")] = (
        True
    )
    megabytes: Annotated[
        int, Field(ge=1, le=100_000, description="How large their files may be, those of all companies together.")
    ] = 50
    days: Annotated[int, Field(ge=1, le=365, description="How many days they are kept.")] = 7
