"""The answers for the page Today: each company with its figures, and the late documents of all companies."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import Id, Model, Timestamp
from wmsd.contract.list_queries import PageQuery
from wmsd.server.figures.schema import PayerFigures


class TodayQuery(PageQuery):
    search: Annotated[str, Field(max_length=64)] | None = None


class CompanyToday(Model):
    """A company and its figures. A figure is null if the caller may not see it, or if it was not read yet."""

    id: Id
    code: str
    name: str
    """The name, with the code if another company has the same name."""
    day: str
    """The current date in the company's time zone."""
    sandbox: bool
    frozen_at: Timestamp | None
    suspended_at: Timestamp | None
    """The time since which the company has been suspended, or null."""
    storage_percent: int | None
    """The used percentage of the storage that the company may use. null: the storage is not nearly full."""
    late_orders: int | None
    to_load_today: int | None
    orders_not_taken: int | None
    """New orders on which nobody has started to work."""
    orders_in_work: int | None
    orders_loaded: int | None
    late_inbound: int | None
    expected_today: int | None
    returns_undecided: int | None
    counts_to_book: int | None
    given_up: int | None
    low: int | None
    events: int | None
    requests: int
    """The number of requests in the last minute."""
    limit: int
    """The largest number of requests that the company may send per minute."""


class LateToday(Model):
    """A document that should have been dealt with before today."""

    kind: str
    id: Id
    code: str
    status: str
    due: str
    partner: str | None
    waits_for: str | None
    """The code of the unfinished transport or reception that the document is assigned to, or null."""
    company_id: Id
    company: str


class Today(Model):
    """The page Today. `totals` covers all companies that the caller may use, not only those on this page."""

    day: str
    """The date in the time zone of the installation."""
    companies: list[CompanyToday]
    companies_in_all: int
    totals: dict[str, int | None]
    late: list[LateToday]
    costs: list[PayerFigures]
    """The companies and people whose processor use is high now. Only platform admins see them."""
