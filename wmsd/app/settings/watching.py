"""How the service is watched."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from wmsd.app.settings.fields import Section, check_own_listen


class Metrics(Section):
    """Figures of the running server for Prometheus, at /metrics; the guide lists them (/docs/monitoring)."""

    listen: Annotated[
        str,
        AfterValidator(check_own_listen),
        Field(
            description="An address of their own, such as 127.0.0.1:8481, open to all who reach it; empty: none."
        ),
    ] = ""
    token_file: Annotated[
        str,
        Field(
            description="A file with a token that readers must send. Without `listen`, /metrics is then at the "
            "service's own address."
        ),
    ] = ""


class Log(Section):
    """What the service logs, on standard error or in a file."""

    format: Annotated[Literal["human", "json"], Field(description="human, or json: one object in each line.")] = (
        "human"
    )
    level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="debug, info, warning or error.")
    ] = "info"
    requests: Annotated[
        bool, Field(description="A line for every request; in a flood, for only some of the refused requests.")
    ] = True
    file: Annotated[str, Field(description="The file to write the log to; empty: standard error.")] = ""
    file_megabytes: Annotated[
        int,
        Field(ge=1, le=100_000, description="When the file reaches this size, it is renamed and a new one begun."),
    ] = 10
    files: Annotated[
        int, Field(ge=2, le=1000, description="How many log files are kept, with the one being written.")
    ] = 5
