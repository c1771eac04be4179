"""[replica]: continuous replication by Litestream."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Replica(Section):
    """Continuous replication by Litestream, which runs next to the server."""

    enabled: Annotated[
        bool,
        Field(description="Whether it runs: the server's files are then open to other programs of this machine."),
    ] = False
