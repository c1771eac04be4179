"""[requests]: the history of the latest requests."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Requests(Section):
    """The last requests of each company. The pages show them to people who connect programs to the company."""

    keep: Annotated[bool, Field(description="Store the requests with their bodies, but without secrets.")] = True
    megabytes: Annotated[
        int,
        Field(
            ge=1, le=100_000, description="Maximum size of the stored requests of all companies together, in MB."
        ),
    ] = 50
    days: Annotated[int, Field(ge=1, le=365, description="How many days to keep requests.")] = 7
