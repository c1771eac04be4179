"""The answers of the kernel interface: statistics of the installation. They contain no records of companies."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import Id, Input, Model, Timestamp

Available = Annotated[
    bool,
    Field(
        description="Whether the company's file can be used. If not, the fields that are read from "
        "the file are null."
    ),
]


class Place(Model):
    id: Id
    code: str
    name: str


class OperatorPlace(Place):
    """A third-party-logistics operator in the topology."""

    sandbox: bool


class WarehousePlace(Place):
    active: bool


class CompanyPlace(Place):
    """A company with its operator, its modules and its warehouses."""

    operator_id: Id | None
    sandbox: bool
    modules: Annotated[dict[str, bool], Field(description="Every module, and whether it is on.")]
    available: Available
    warehouses: list[WarehousePlace] | None


class Topology(Model):
    """The operators and companies of the installation, in the order of their ids."""

    operators: list[OperatorPlace]
    companies: list[CompanyPlace]


class ResourceCount(Model):
    count: int
    by_status: Annotated[
        dict[str, int] | None,
        Field(description="The count for each status; null if these records have no status."),
    ]


class RequestCount(Model):
    """Requests that the rate limits admitted. Each request of a batch counts."""

    count: int
    since: Annotated[
        Timestamp | None,
        Field(description="The date and time of the first counted request; null if there is none."),
    ]


class BilledEvents(Model):
    """Events for billing. Each event counts once, with or without a webhook."""

    month: Annotated[str, Field(description="The current month, in UTC.")]
    by_name: Annotated[
        dict[str, int], Field(description="The events of the month by name. Names without events are left out.")
    ]
    in_month: int
    ever: int


class DeliveryCount(Model):
    """Counts of webhook deliveries that are still to be sent, and of those that finished in the last 30 days."""

    open: int
    delivered: int
    exhausted: int
    skipped: int


class CompanyStats(Model):
    id: Id
    code: str
    available: Available
    requests: RequestCount
    database_bytes: int
    quota_bytes: Annotated[
        int | None,
        Field(description="The maximum size of the company's file, in bytes; null: limited only by the disk."),
    ]
    resources: dict[str, ResourceCount] | None
    events: BilledEvents | None
    deliveries: DeliveryCount | None


class TotalStats(Model):
    """The totals. A company that is not available adds only its requests and bytes."""

    companies: int
    companies_unavailable: int
    requests: RequestCount
    database_bytes: int
    resources: dict[str, ResourceCount]
    events: BilledEvents
    deliveries: DeliveryCount


class Stats(Model):
    """Statistics by company, in the order of their ids, and in total."""

    at: Timestamp
    platform_database_bytes: int
    companies: list[CompanyStats]
    total: TotalStats


class ModuleSwitch(Input):
    enabled: bool


class ModuleState(Model):
    """The state of a company's module: on or off."""

    enabled: bool
