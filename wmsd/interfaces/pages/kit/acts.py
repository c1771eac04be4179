"""The description of a kind of record for the pages: its lists, its pages and its actions."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.contract.access import ABILITIES, EVERYTHING, AbilitySet
from wmsd.contract.operation import Operation
from wmsd.dispatch.record_audit import kind_of
from wmsd.interfaces.pages.kit.fields import Field, fields_of
from wmsd.warehouse.documents.table import Due


@dataclass(frozen=True, slots=True)
class Act:
    """An action on a record, or the creation of a record: an operation and the form of its body.

    `says` is the text above the button. `done` is the message on the page that follows: the record or the list.
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
    offers: tuple[str, Callable[[], str]] | None = None
    """A secret that nobody should have to think of, and what makes one. The form shows it."""
    reads: Operation | None = None
    """Gives what the form begins with, where that is not in the record."""
    without: frozenset[str] = frozenset()
    """Fields of the body that the form does not ask for."""
    leading: tuple[str, ...] = ()
    """The fields of the form that most people fill in. Others stand below the lines, where people open them."""
    sets: tuple[AbilitySet, ...] = ()
    """Buttons that tick the abilities of a person: each ticks all of a set, and no others."""
    fixed: Mapping[str, object] = field(default_factory=dict)
    """What it sends beside the form, such as the status of a move."""
    statuses: frozenset[str] | None = None
    """The statuses of the documents that it is for; None: of any record."""
    next_in: frozenset[str] = frozenset()
    """The statuses in which it is the next step of the work."""
    next_if: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """Whether it is the next step for a record, where the status alone does not tell it."""
    left: Callable[[Mapping[str, Any]], int] = lambda _: 0
    """How many lines of a document still lack what it fills in."""
    is_direct: bool = False
    """Whether the button does it, without a form of its own."""
    then: tuple[str, str] | None = None
    """The name of the act whose form may follow at once, and the text of the button that leads there."""
    takes_packaging: bool = False
    """Whether returnable packaging may go along."""
    takes_many: bool = False
    """Whether it can be done to many records of a list at once."""
    undone_by: str = ""
    """The name of the act that takes it back."""
    leads_to: str = ""
    """The address below the company's of another record's form, with the `{id}` of this one, or of several."""
    merges: bool = False
    """Whether what it sends stands beside what others save meanwhile, so that it need not have seen that."""
    begins_empty: frozenset[str] = frozenset()
    """The fields of its rows that begin empty: what the record has of them stands beside."""
    tells_when_shown: bool = False
    """Whether it sends the moment of its page, in the field `seen_at` of its body or of each row."""
    only_if: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """Whether it makes sense for a record, where no single field tells it."""
    shows: tuple[tuple[str, ...], Callable[[Mapping[str, Any]], bool]] | None = None
    """The fields of a document's lines that stand above its button, and for which lines."""
    frozen: Callable[[str], frozenset[str]] = lambda _: frozenset()
    """The fields that its form does not ask for in a status, because they cannot change any more."""
    shown: Callable[[str | None], frozenset[str]] = lambda _: frozenset()
    """The fields of lines that its form shows, and does not ask for, in a status; None: of a new document."""
    done_where: tuple[str, str] | None = None
    """A field of the answer, and what stands in place of `done` where it is true."""

    def goes_with(self, field: str) -> tuple[str, str] | None:
        """Return the choice for which the form shows `field`, or None if the field is always shown.

        The choice is the name of the choosing field and its value.
        """
        if self.chooses is None:
            return None
        choosing, by_choice = self.chooses
        return next(((choosing, choice) for choice, names in by_choice.items() if field in names), None)

    @property
    def texts(self) -> tuple[str, ...]:
        """All English texts of the action."""
        further = (each[1] for each in (self.done_where, self.then) if each is not None)
        return (self.text, self.says, self.done, *further)

    def outcome(self, answer: Mapping[str, object]) -> str:
        """Return the word for the outcome of an answer, which the next address contains.

        `told` has its message.
        """
        is_other = self.done_where is not None and answer.get(self.done_where[0])
        return f"{self.name}.else" if is_other else self.name

    def told(self, outcome: str) -> str:
        """Return the message for an outcome, or "" if the outcome is of another action."""
        if self.done_where is not None and outcome == f"{self.name}.else":
            return self.done_where[1]
        return self.done if outcome == self.name else ""

    @property
    def makes_one(self) -> bool:
        return not self.operation.path_types and not self.leads_to

    def ticked(self, name: str) -> dict[str, str | bool]:
        """Return the ability fields of the form as the set `name` ticks them."""
        found = (each.abilities for each in self.sets if each.name == name)
        return {f"abilities:{each}": each in abilities for abilities in found for each in (EVERYTHING, *ABILITIES)}

    def left_out(self, status: str | None) -> frozenset[str]:
        """Return the fields of the body that the form leaves out in this status (None: of a new document)."""
        return self.without if status is None else self.without | self.frozen(status)

    def fits(self, record: Mapping[str, object]) -> bool:
        """Return True if the action makes sense for the record."""
        if self.statuses is not None and record["status"] not in self.statuses:
            return False
        is_meant = self.when is None or record.get(self.when[0]) == self.when[1]
        is_meant = is_meant and self.only_if(record)
        return is_meant and (self.unless is None or record.get(self.unless[0]) != self.unless[1])


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of record on the pages, with its list, its page and its actions.

    `listing` lists the records by page or by cursor. `walking` lists them by cursor, for files. `columns` are the
    columns of the list: fields, and references without their `_id`.
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
    named_by: tuple[str, ...] = ()
    """The fields that name a record, where its key does not."""
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
    """The resources whose records of this one are listed under it, each with the filter that takes its code, or
    its id where the name ends so.
    """
    beside: tuple[tuple[str, Operation], ...] = ()
    """What else its page lists: a title, and the operation that lists it by the id of the record."""
    leads_to: tuple[str, tuple[str, ...]] | None = None
    """Of records without a page: the resource whose list the key leads to, and the fields that narrow it."""
    path: tuple[str, ...] = ()
    """Of documents: the statuses of one whose work goes as planned."""
    open_statuses: tuple[str, ...] = ()
    """Of documents: those from which there is still a way."""
    of_article: Operation | None = None
    """Of documents: finds how much of an article some have."""
    due: Due | None = None
    """Of documents: by when they should be dealt with."""
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
        """All operations that the pages of these records call."""
        further = [each for each in (self.one, self.rules, self.changes, self.of_article) if each is not None]
        read_by_acts = [act.reads for act in self.acts if act.reads is not None]
        beside = [each for _, each in self.beside]
        acts = [act.operation for act in self.acts]
        return [self.listing, self.walking, *further, *beside, *acts, *read_by_acts]

    @property
    def audited(self) -> str:
        """The name of this kind of record in a company's audit, or "" if the audit does not list such records."""
        named = (act.operation.audited for act in self.acts)
        return next((kind_of(each) for each in named if each is not None), "")

    def act(self, name: str, makes_one: bool) -> Act:
        """Return the action with this name. Raise Problem (404) if there is no such page."""
        named = (each for each in self.acts if each.name == name and each.makes_one == makes_one)
        return or_not_found(next((each for each in named if not each.leads_to), None), "page")

    def told(self, outcome: str) -> str:
        """Return the message for an outcome of one of the actions, or "" for an unknown outcome."""
        return next(filter(None, (act.told(outcome) for act in self.acts)), "")

    def name_of(self, record: Mapping[str, object]) -> str:
        """Return the name of the record for people."""
        return " · ".join(str(record[field]) for field in self.named_by or (self.key,))

    @property
    def listed(self) -> list[Field]:
        """The fields of the list."""
        return [self.fields.get(name) or self.fields[f"{name}_id"] for name in self.columns]
