"""[sessions]: how long people stay signed in."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from wmsd.settings.sections.fields import Section
from wmsd.tenants.accounts.sessions import Lifetimes


class Sessions(Section):
    """The lifetime of sign-ins to the pages, and the rule for second factors."""

    idle_hours: Annotated[
        int, Field(ge=1, le=720, description="Hours without activity after which a user is signed out.")
    ] = 12
    most_days: Annotated[
        int, Field(ge=1, le=365, description="Days after which every user must sign in again.")
    ] = 7
    second_factor: Annotated[
        Literal["optional", "admins"],
        Field(
            description=(
                "optional: users may set up a second factor; admins: every admin with a password must set one up."
            )
        ),
    ] = "optional"

    @property
    def lifetimes(self) -> Lifetimes:
        return Lifetimes(timedelta(hours=self.idle_hours), timedelta(days=self.most_days))
