"""[log]: the destination and content of the log."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.contract.secret_fields import OfPath
from wmsd.settings.sections.fields import (
    Section,
)


class Log(Section):
    """The log of the server, on standard error or in a file."""

    format: Annotated[Literal["human", "json"], Field(description="human, or json: one object in each line.")] = (
        "human"
    )
    level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="debug, info, warning or error.")
    ] = "info"
    local_time: Annotated[
        bool,
        Field(
            description="Write the moments of the log by the clock of this machine, with their offset; "
            "otherwise in UTC."
        ),
    ] = False
    requests: Annotated[
        bool, Field(description="A line for every request; in a flood, for only some of the refused requests.")
    ] = True
    file: Annotated[str, Field(description="The file to write the log to; empty: standard error."), OfPath] = ""
    file_megabytes: Annotated[
        int,
        Field(ge=1, le=100_000, description="When the file reaches this size, it is renamed and a new one begun."),
    ] = 10
    files: Annotated[
        int, Field(ge=2, le=1000, description="How many log files are kept, with the one being written.")
    ] = 5
