"""The records of a company that the pages list and show."""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.contract.operation import Operation
from wmsd.dispatch.record_audit import kind_of
from wmsd.events.outbox import actions as outbox
from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.receiver_rules import ADDRESS as RECEIVER_ADDRESS
from wmsd.events.webhooks.rules import CREDENTIALS
from wmsd.events.webhooks.test_receivers.actions import make_webhook_receiver
from wmsd.imports import actions as imports
from wmsd.interfaces.pages.kit.fields import REFERRING, Field, fields_of
from wmsd.server.webhook_sender import test_webhook
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.directory import directory_administration
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.packaging import actions as packaging
from wmsd.warehouse.packaging import packaging_administration
from wmsd.warehouse.stock import actions as stock


@dataclass(frozen=True, slots=True)
class Act:
    """What a person may do with a record, or to make one: an operation with the form of its body.

    `says` stands above the button, `done` above what it leads to: the record, or the list.
    """

    name: str
    """In addresses."""
    text: str
    """On the button."""
    operation: Operation
    says: str = ""
    done: str = ""
    goes_to: Literal["record", "list", "delivery", "receiver", "once"] = "record"
    """`once`: a page of the `template` that shows the answer. Nobody can see it again."""
    template: str = ""
    changes: bool = False
    """Whether the form begins with the record's own values."""
    is_final: bool = False
    """Whether nobody can undo it."""
    when: tuple[str, object] | None = None
    """The field and the value of the records that it is for; None: of all."""
    unless: tuple[str, object] | None = None
    """Those of the records that it is not for."""
    chooses: tuple[str, Mapping[str, tuple[str, ...]]] | None = None
    """A field that is a choice, and the fields that go with each."""
    reads: Operation | None = None
    """Gives what the form begins with, where that is not in the record."""
    done_where: tuple[str, str] | None = None
    """A field of the answer, and what stands in place of `done` where it is true."""

    def goes_with(self, field: str) -> tuple[str, str] | None:
        """The choice that this field of the form is for: the choosing field, and its value."""
        if self.chooses is None:
            return None
        choosing, by_choice = self.chooses
        return next(((choosing, choice) for choice, names in by_choice.items() if field in names), None)

    @property
    def texts(self) -> tuple[str, ...]:
        """All that it says, in English."""
        return (self.text, self.says, self.done, self.done_where[1] if self.done_where else "")

    def outcome(self, answer: Mapping[str, object]) -> str:
        """What the address that it leads to says of the answer, for `told`."""
        is_other = self.done_where is not None and answer.get(self.done_where[0])
        return f"{self.name}.else" if is_other else self.name

    def told(self, outcome: str) -> str:
        """What to say of an outcome; nothing of another act's."""
        if self.done_where is not None and outcome == f"{self.name}.else":
            return self.done_where[1]
        return self.done if outcome == self.name else ""

    @property
    def makes_one(self) -> bool:
        return not self.operation.path_types

    def fits(self, record: Mapping[str, object]) -> bool:
        """Whether it makes sense for the record."""
        is_meant = self.when is None or record.get(self.when[0]) == self.when[1]
        return is_meant and (self.unless is None or record.get(self.unless[0]) != self.unless[1])


@dataclass(frozen=True, slots=True)
class Resource:
    """`listing` lists it by page or by cursor, `walking` by cursor, for files. `columns` are those of the
    list: fields, and references without their `_id`.
    """

    name: str
    """In addresses."""
    title: str
    listing: Operation
    walking: Operation
    columns: tuple[str, ...]
    one: Operation | None = None
    key: str = "code"
    """The column that leads to the record."""
    sort: str = "code"
    """The order that people expect, if it can be ordered."""
    acts: tuple[Act, ...] = ()
    rules: Operation | None = None
    """Lists what limits a record, and what is decided for it."""
    changes: Operation | None = None
    """Lists who made a record, moved it and changed it, where the audit does not tell."""
    further: tuple[str, str, str] | None = None
    """A page below that of a record: its name in addresses, its title, and what it tells."""
    under: tuple[tuple[str, str], ...] = ()
    """The resources whose records of this one are listed under it, each with the filter that takes its code."""
    leads_to: tuple[str, tuple[str, ...]] | None = None
    """Of records without a page: the resource whose list the key leads to, and the fields that narrow it."""
    says: str = ""
    """What they are for, above the list."""
    comes: str = ""
    """How there comes to be one, where the list has none and nobody makes one here."""

    @property
    def model(self) -> type[BaseModel]:
        assert self.listing.returns is not None
        return self.listing.returns

    @property
    def fields(self) -> Mapping[str, Field]:
        return fields_of(self.model)

    @property
    def operations(self) -> list[Operation]:
        """All that its pages ask for."""
        further = [each for each in (self.one, self.rules, self.changes) if each is not None]
        read_by_acts = [act.reads for act in self.acts if act.reads is not None]
        return [self.listing, self.walking, *further, *(act.operation for act in self.acts), *read_by_acts]

    @property
    def audited(self) -> str:
        """What the audit calls such a record of a company; empty where it tells of none."""
        named = (act.operation.audited for act in self.acts)
        return next((kind_of(each) for each in named if each is not None), "")

    def act(self, name: str, makes_one: bool) -> Act:
        """Raises Problem (404)."""
        named = (act for act in self.acts if act.name == name and act.makes_one == makes_one)
        return or_not_found(next(named, None), "page")

    def told(self, outcome: str) -> str:
        """What to say of the act that led to one of its pages."""
        return next(filter(None, (act.told(outcome) for act in self.acts)), "")

    @property
    def listed(self) -> list[Field]:
        """The fields of the list."""
        return [self.fields.get(name) or self.fields[f"{name}_id"] for name in self.columns]


def _of_documents(kind: DocumentKind) -> Resource:
    table, reading = kind.table, kind.reading
    title = f"{table.noun}s".capitalize()
    return Resource(
        table.name.replace("_", "-"),
        title,
        reading.by_page,
        reading.by_cursor,
        kind.listed,
        reading.one,
        sort="-id",
        comes="Programs make them by the API.",
        changes=reading.changes,
    )


CREDENTIALS_CHOSEN: Final[tuple[str, Mapping[str, tuple[str, ...]]]] = (
    "auth_type",
    {choice: names for choice, names in CREDENTIALS.items()},  # noqa: C416 -- its keys become plain texts
)
WEBHOOK_ACTS: Final = (
    Act(
        "new",
        "New webhook",
        webhooks.create_webhook,
        "A webhook tells another program what happens here, as it happens.",
        "The webhook is made. Send a test to see whether it arrives.",
        chooses=CREDENTIALS_CHOSEN,
    ),
    Act(
        "test",
        "Send a test",
        test_webhook,
        "Sends one event webhook.test and waits for the answer, up to 10 seconds.",
        goes_to="delivery",
    ),
    Act(
        "switch-on",
        "Switch on again",
        webhooks.switch_on_webhook,
        "Events are queued again from now on, and what was queued before is sent. What happened while it was off "
        "was never queued: the event log has it.",
        "The webhook is on again.",
        when=("active", False),
    ),
    Act(
        "new-receiver",
        "New test receiver",
        make_webhook_receiver,
        "A test receiver is for those who have no receiver yet. Deliveries to it are signed, sent, repeated and "
        "logged like all others, but arrive here: you see what would have come, and whether its signature is "
        "valid. It ends after 7 days.",
        goes_to="receiver",
    ),
    Act(
        "change",
        "Change",
        webhooks.update_webhook,
        done="The webhook is changed.",
        changes=True,
        chooses=CREDENTIALS_CHOSEN,
    ),
    Act(
        "rotate-secret",
        "New secret",
        webhooks.rotate_webhook_secret,
        when=("auth_type", "hmac"),
        unless=("url", RECEIVER_ADDRESS),
    ),
    Act(
        "remove",
        "Remove",
        webhooks.delete_webhook,
        "What is still to be sent is not sent any more, and the log of deliveries is deleted.",
        "The webhook is removed.",
        "list",
        is_final=True,
    ),
)
WEBHOOKS: Final = Resource(
    "webhooks",
    "Webhooks",
    webhooks.list_webhooks,
    webhooks.walk_webhooks,
    ("name", "url", "active", "last_delivery", "failing_since"),
    webhooks.get_webhook,
    key="name",
    acts=WEBHOOK_ACTS,
    further=("deliveries", "Deliveries", "what was sent, and what came back"),
)
IMPORTS: Final = Resource(
    "imports",
    "Imports",
    imports.list_imports,
    imports.walk_imports,
    ("id", "kind", "file_name", "actor", "created", "updated", "unchanged", "imported_at", "undone_at"),
    imports.get_import,
    key="id",
    sort="-id",
    acts=(
        Act("new", "Import a file", imports.begin_upload, done="The file is imported."),
        Act(
            "undo",
            "Take back",
            imports.undo_import,
            "Records that the import has made are deleted, and those that it has changed are as before. Stock "
            "gets counter movements, because the ledger is never changed. Nothing is done if anything was built "
            "on it.",
            "The import is taken back.",
            is_final=True,
            when=("can_be_undone", True),
        ),
    ),
)
DIRECTORY: Final = ("code", "name", "active", "updated_at")


def _own_acts(noun: str, create: Operation, change: Operation) -> tuple[Act, ...]:
    return (
        Act("new", f"New {noun}", create, done=f"The {noun} is made."),
        Act("change", "Change", change, done=f"The {noun} is changed.", changes=True),
    )


RESOURCES: Final = (
    *map(_of_documents, DOCUMENTS),
    Resource(
        "stock",
        "Stock",
        stock.list_stock,
        stock.walk_stock,
        ("article", "warehouse", "quantity", "reserved", "quarantined", "available", "updated_at"),
        stock.explain_stock,
        key="quantity",
        sort="id",
        comes="It comes with receptions, with counts and with imports.",
    ),
    Resource(
        "articles",
        "Articles",
        articles.list_articles,
        articles.walk_articles,
        ("code", "name", "unit", "barcode", "min_stock", "active", "updated_at"),
        articles.get_article,
        under=(("stock", "article_code"),),
        acts=_own_acts("article", articles.create_article, articles.update_article),
    ),
    Resource(
        "packaging",
        "Packaging",
        packaging.walk_packaging_balances,
        packaging.walk_packaging_balances,
        ("packaging_type_code", "packaging_type_name", "partner", "quantity", "updated_at"),
        key="quantity",
        leads_to=("packaging-movements", ("packaging_type_code", "partner_id")),
        comes="A balance comes with the first movement of packaging.",
    ),
    Resource(
        "packaging-movements",
        "Packaging movements",
        packaging_administration.tell_packaging_movements,
        packaging_administration.tell_packaging_movements,
        (
            *("code", "packaging_type_code", "partner", "direction", "quantity", "occurred_at", "document"),
            *("actor", "notes"),
        ),
        comes="They come with orders, receptions and transports, and with imports.",
    ),
    Resource(
        "packaging-types",
        "Packaging types",
        packaging.walk_packaging_types,
        packaging.walk_packaging_types,
        ("code", "name", "updated_at"),
        packaging_administration.get_packaging_type,
        under=(("packaging", "packaging_type_code"), ("packaging-movements", "packaging_type_code")),
        acts=_own_acts(
            "packaging type",
            packaging_administration.create_packaging_type,
            packaging_administration.change_packaging_type,
        ),
    ),
    Resource(
        "partners",
        "Partners",
        directory.list_partners,
        directory.walk_partners,
        ("code", "name", "type", "active", "updated_at"),
        directory.get_partner,
        acts=_own_acts(
            "partner", directory_administration.create_partner, directory_administration.change_partner
        ),
    ),
    Resource(
        "clients",
        "Clients",
        directory.list_clients,
        directory.walk_clients,
        DIRECTORY,
        directory.get_client,
        acts=_own_acts("client", directory_administration.create_client, directory_administration.change_client),
    ),
    Resource(
        "warehouses",
        "Warehouses",
        directory.list_warehouses,
        directory.walk_warehouses,
        DIRECTORY,
        directory.get_warehouse,
        acts=_own_acts(
            "warehouse", directory_administration.create_warehouse, directory_administration.change_warehouse
        ),
    ),
    IMPORTS,
    WEBHOOKS,
    Resource(
        "events",
        "Events",
        outbox.list_events,
        outbox.list_events,
        ("timestamp", "event", "entity_id", "id"),
        outbox.get_event,
        key="id",
        comes="Whatever changes here becomes one.",
    ),
)
BY_NAME: Final = {resource.name: resource for resource in RESOURCES}
REFERRED: Final = {
    id_field: resource
    for id_field, reference in REFERRING.items()
    for resource in RESOURCES
    if resource.one is not None and resource.model is reference.find.returns
}
"""The resource that a field refers to."""
