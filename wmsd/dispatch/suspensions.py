"""A company that a site admin has suspended: nobody uses it, nothing is sent for it, and its data stay.

That it is suspended stands in `platform.db`, and so with the company that a request asks for. A change that was
begun before is finished and answered.
"""

from typing import Final

from wmsd.base.problems import Problem, forbidden
from wmsd.contract.context import Company

SUSPENDED: Final = "The company {} has been suspended since {}. Its data are kept. Ask whoever runs the server."
BECAUSE: Final = "The company {} has been suspended since {}: {}. Its data are kept. Ask whoever runs the server."


def check_not_suspended(company: Company) -> None:
    """Raises Problem (403)."""
    if company.suspended_at is not None:
        raise suspended(company.code, company.suspended_at, company.suspended_because)


def suspended(code: str, since: str, because: str | None) -> Problem:
    return forbidden(BECAUSE.format(code, since, because) if because else SUSPENDED.format(code, since))
