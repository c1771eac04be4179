"""[limits]: how many requests callers may send per minute."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import PerMinute, Section


class Limits(Section):
    """Requests per minute, in a sliding window. A company can have its own limits."""

    data_per_minute: Annotated[PerMinute, Field(description="API requests of a company, except GraphQL.")] = 60
    sandbox_per_minute: Annotated[
        PerMinute, Field(description=("API requests of a sandbox company, except GraphQL."))
    ] = 12
    graphql_per_minute: Annotated[PerMinute, Field(description="GraphQL requests of a company.")] = 30
    pages_per_minute: Annotated[
        PerMinute, Field(description="Requests of one person to the pages, from all browsers together.")
    ] = 600
    auth_per_minute: Annotated[PerMinute, Field(description="Sign-ins from one address.")] = 10
    refused_per_minute: Annotated[
        PerMinute, Field(description="Requests without a valid token or access, from one address.")
    ] = 120
    open_per_minute: Annotated[
        PerMinute,
        Field(
            description="Requests that need no token, from one address. The limit applies separately to the "
            "API, the guide and the sign-in page."
        ),
    ] = 120
