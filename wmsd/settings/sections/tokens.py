"""[tokens]: the lifetime of API tokens."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Days, Section


class Tokens(Section):
    """The lifetime of API tokens."""

    lifetime_days: Annotated[Days, Field(description="Default lifetime of a token, in days.")] = 90
    most_days: Annotated[Days, Field(description="Maximum lifetime of a token, in days.")] = 3650
