"""[returns]: the rules of returns."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Returns(Section):
    """The rules of returns."""

    require_write_ability: Annotated[
        bool,
        Field(
            description=(
                "If true, a token needs returns:write to create or change returns. If false, returns:read is "
                "enough."
            )
        ),
    ] = False
