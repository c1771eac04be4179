"""[replica]: continuous replication by Litestream."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Replica(Section):
    """Continuous replication by Litestream, which runs next to the server."""

    enabled: Annotated[
        bool,
        Field(
            description="Switch replication on. Other programs on this machine can then open the files of "
            "the server."
        ),
    ] = False
