"""[log]: the destination and content of the log."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.contract.secret_fields import OfPath
from wmsd.settings.sections.fields import (
    Section,
)


class Log(Section):
    """The log of the server, on standard error or in a file."""

    format: Annotated[
        Literal["human", "json"], Field(description="human: lines of text; json: one JSON object in each line.")
    ] = "human"
    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Field(description="The lowest level to log: debug, info, warning or error."),
    ] = "info"
    local_time: Annotated[
        bool,
        Field(
            description="Write log times in the time zone of this machine, with the UTC offset. If false, "
            "log times are in UTC."
        ),
    ] = False
    requests: Annotated[
        bool,
        Field(description="Log every request. In a flood of requests, log only some of the refused requests."),
    ] = True
    file: Annotated[str, Field(description="The file for the log. Empty: standard error."), OfPath] = ""
    file_megabytes: Annotated[
        int,
        Field(
            ge=1,
            le=100_000,
            description="The size, in MB, at which wmsd renames the log file and starts a new one.",
        ),
    ] = 10
    files: Annotated[
        int, Field(ge=2, le=1000, description="How many log files to keep, including the current one.")
    ] = 5
