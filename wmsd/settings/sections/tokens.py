"""[tokens]: the lifetime of API tokens."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Days, Section


class Tokens(Section):
    """The lifetime of API tokens."""

    lifetime_days: Annotated[
        Days, Field(description="Days that a token lasts, unless its maker says otherwise.")
    ] = 90
    most_days: Annotated[Days, Field(description="The most days that a token may last.")] = 3650
