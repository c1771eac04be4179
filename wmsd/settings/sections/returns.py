"""[returns]: the rules of returns."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Returns(Section):
    """The rules of returns."""

    require_write_ability: Annotated[
        bool,
        Field(description="A token needs returns:write to write returns; if false, returns:read is enough."),
    ] = False
