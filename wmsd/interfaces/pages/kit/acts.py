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
    """The name in addresses."""
    text: str
    """The text on the button."""
    operation: Operation
    says: str = ""
    done: str = ""
    goes_to: Literal["record", "list", "delivery", "receiver", "once"] = "record"
    """The page that opens after the action. With `once`, this page is rendered from `template`, and shows the
    answer only once.
    """
    template: str = ""
    changes: bool = False
    """True if the form starts with the values of the record."""
    is_final: bool = False
    """True if nobody can undo the action."""
    when: tuple[str, object] | None = None
    """A field and a value. Only records with this value have the action. None: every record has the action."""
    unless: tuple[str, object] | None = None
    """A field and a value. Records with this value do not have the action. None: every record has the action."""
    chooses: tuple[str, Mapping[str, tuple[str, ...]]] | None = None
    """A field in which people choose a value, and the other fields that each value needs. The form shows such a
    field only if its value is chosen.
    """
    offers: tuple[str, Callable[[], str]] | None = None
    """The field of a secret, and the function that generates the secret.

    The form shows the generated secret, so users need not invent one.
    """
    reads: Operation | None = None
    """The operation that reads the first values of the form, if the record does not have them."""
    without: frozenset[str] = frozenset()
    """The fields of the body that the form leaves out."""
    leading: tuple[str, ...] = ()
    """The fields that most people fill in. The form shows the other fields below the lines, in a part that people
    can open.
    """
    sets: tuple[AbilitySet, ...] = ()
    """Buttons that tick the abilities of a user. Each button ticks exactly the abilities of one set."""
    fixed: Mapping[str, object] = field(default_factory=dict)
    """Values that are sent in addition to the form, such as the status that the action sets."""
    statuses: frozenset[str] | None = None
    """Only documents in these statuses have the action. None: every record has the action."""
    next_in: frozenset[str] = frozenset()
    """The statuses in which the action is the next step of the work."""
    next_if: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """A further condition for the next step, if the status is not enough to decide."""
    left: Callable[[Mapping[str, Any]], int] = lambda _: 0
    """A function that returns how many lines of a document are still incomplete and need this action."""
    is_direct: bool = False
    """True if the button runs the action directly, without a form."""
    then: tuple[str, str] | None = None
    """The name of an action that can follow this action, and the text of a button. The button runs this action,
    and then opens the form of the other action.
    """
    takes_packaging: bool = False
    """True if the action may also record returnable packaging."""
    takes_many: bool = False
    """True if the action can be run for many records of a list in one step."""
    undone_by: str = ""
    """The name of the action that undoes this one."""
    leads_to: str = ""
    """If the action opens the form of another record: the address of this form, below the company's address.

    `{id}` stands for the id of this record, or for several ids separated by commas.
    """
    merges: bool = False
    """True if the operation merges this change with changes that others saved meanwhile. Then the form needs no
    version check.
    """
    begins_empty: frozenset[str] = frozenset()
    """The fields of rows that are empty when the form opens. The form displays the stored values next to these
    fields.
    """
    tells_when_shown: bool = False
    """True if the action sends the time at which its page was shown, as `seen_at` of its body or of each row."""
    only_if: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """A condition that a record must meet to have the action, if one field is not enough to decide."""
    shows: tuple[tuple[str, ...], Callable[[Mapping[str, Any]], bool]] | None = None
    """The fields of a document's lines that the form shows above the button, and a function that chooses the
    lines.
    """
    frozen: Callable[[str], frozenset[str]] = lambda _: frozenset()
    """A function that returns the fields that cannot change in a status. The form leaves out these fields."""
    shown: Callable[[str | None], frozenset[str]] = lambda _: frozenset()
    """A function that returns the fields of lines that are read-only in the form. The argument is the status, or
    None for a new document.
    """
    done_where: tuple[str, str] | None = None
    """A field of the answer, and the message that replaces `done` if the field is true."""

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
        """Return all English texts of the action."""
        further = (each[1] for each in (self.done_where, self.then) if each is not None)
        return (self.text, self.says, self.done, *further)

    def outcome(self, answer: Mapping[str, object]) -> str:
        """Return a word for the outcome of the action. The address of the next page contains this word.

        `message_for` returns the message for the word.
        """
        is_other = self.done_where is not None and answer.get(self.done_where[0])
        return f"{self.name}.else" if is_other else self.name

    def message_for(self, outcome: str) -> str:
        """Return the message for an outcome, or "" if the outcome is of another action."""
        if self.done_where is not None and outcome == f"{self.name}.else":
            return self.done_where[1]
        return self.done if outcome == self.name else ""

    @property
    def makes_one(self) -> bool:
        return not self.operation.path_types and not self.leads_to

    def ticked(self, name: str) -> dict[str, str | bool]:
        """Return all ability fields of the form: True for the abilities of the set `name`, else False."""
        found = (each.abilities for each in self.sets if each.name == name)
        return {f"abilities:{each}": each in abilities for abilities in found for each in (EVERYTHING, *ABILITIES)}

    def left_out(self, status: str | None) -> frozenset[str]:
        """Return the fields of the body that the form leaves out in this status. The status of a new document is
        None.
        """
        return self.without if status is None else self.without | self.frozen(status)

    def fits(self, record: Mapping[str, object]) -> bool:
        """Return True if the record meets the conditions `statuses`, `when`, `unless` and `only_if`."""
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
    """The name in addresses."""
    title: str
    listing: Operation
    walking: Operation
    columns: tuple[str, ...]
    one: Operation | None = None
    key: str = "code"
    """The column that links to the record."""
    named_by: tuple[str, ...] = ()
    """The fields that name a record, if its key does not."""
    sort: str = "code"
    """The field of the default order, with `-` in front for descending, for lists that can be ordered."""
    acts: tuple[Act, ...] = ()
    rules: Operation | None = None
    """The operation that lists the rules that limit a record, and their effect on it."""
    changes: Operation | None = None
    """The operation that lists who created a record, and who changed the record or its status. Used if the audit
    has no such list.
    """
    further: tuple[str, str, str] | None = None
    """A further page about a record: its name in addresses, its title, and its description."""
    under: tuple[tuple[str, str], ...] = ()
    """The resources that are listed on the page of a record, each with the name of the filter for this record.

    The value of the filter is the code of the record, or the id of the record if the filter's name ends in `_id`.
    """
    beside: tuple[tuple[str, Operation], ...] = ()
    """Further lists on the page of a record. Each list has a title, and an operation that takes the id of the
    record.
    """
    leads_to: tuple[str, tuple[str, ...]] | None = None
    """For records without a page: the key links to the list of this resource. The fields filter the list."""
    path: tuple[str, ...] = ()
    """For documents: the normal sequence of statuses."""
    open_statuses: tuple[str, ...] = ()
    """For documents: the statuses from which a document can still change to another status."""
    of_article: Operation | None = None
    """For documents: the operation that returns the quantity of an article in each document."""
    due: Due | None = None
    """For documents: the date by which people should deal with a document."""
    says: str = ""
    """The purpose of these records, above the list."""
    comes: str = ""
    """A sentence for an empty list. It says what creates these records. Only for records that people cannot create
    on a page.
    """

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
        """Return the action with this name. Raise Problem (404) if there is no such page.

        `makes_one` is True for actions that create a record.
        """
        named = (each for each in self.acts if each.name == name and each.makes_one == makes_one)
        return or_not_found(next((each for each in named if not each.leads_to), None), "page")

    def message_for(self, outcome: str) -> str:
        """Return the message for an outcome of one of the actions, or "" for an unknown outcome."""
        return next(filter(None, (act.message_for(outcome) for act in self.acts)), "")

    def name_of(self, record: Mapping[str, object]) -> str:
        """Return the name of the record for people."""
        return " · ".join(str(record[field]) for field in self.named_by or (self.key,))

    @property
    def listed(self) -> list[Field]:
        """The fields of the list."""
        return [self.fields.get(name) or self.fields[f"{name}_id"] for name in self.columns]
