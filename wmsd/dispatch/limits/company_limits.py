"""The limits of a company. If a company has no limit of its own, the limit in the settings applies."""

from typing import NamedTuple

from wmsd.contract.context import Company
from wmsd.settings.sections.limits import Limits


class Limit(NamedTuple):
    """A limit that applies to a company. `setting` is the setting for companies without a limit of their own, such
    as limits.data_per_minute.
    """

    value: int
    setting: str
    is_own: bool


def requests_per_minute(company: Company, limits: Limits) -> Limit:
    if company.sandbox:
        return _in_force(company.requests_per_minute, limits.sandbox_per_minute, "limits.sandbox_per_minute")
    return _in_force(company.requests_per_minute, limits.data_per_minute, "limits.data_per_minute")


def graphql_per_minute(company: Company, limits: Limits) -> Limit:
    return _in_force(company.graphql_per_minute, limits.graphql_per_minute, "limits.graphql_per_minute")


def quota_megabytes(company: Company, of_settings: int) -> Limit:
    """Return the company's storage quota in megabytes; 0 means no quota. `of_settings` is the quota in the
    settings.
    """
    return _in_force(company.quota_megabytes, of_settings, "storage.quota_megabytes")


def _in_force(own: int | None, of_settings: int, setting: str) -> Limit:
    return Limit(own or of_settings, setting, bool(own))
