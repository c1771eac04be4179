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
    """An action on a record, or the creation of a record. It has an operation, and a form for the operation's
    body.

    `says` is the text above the button. `done` is the message on the next page.
    """

    name: str
    """The name in addresses."""
    text: str
    """The text on the button."""
    operation: Operation
    says: str = ""
    done: str = ""
    goes_to: Literal["record", "list", "delivery", "receiver", "once"] = "record"
    """The page that opens after the action. With `once`, this page is created from `template`, and shows the
    answer only once.
    """
    template: str = ""
    changes: bool = False
    """True if the form starts with the values of the record."""
    is_final: bool = False
    """True if nobody can undo the action."""
    when: tuple[str, object] | None = None
    """A field and a value. A record has the action only if its field has this value. If `when` is None, every
    record has it.
    """
    unless: tuple[str, object] | None = None
    """A field and a value. A record lacks the action if its field has this value. If `unless` is None, every
    record has it.
    """
    chooses: tuple[str, Mapping[str, tuple[str, ...]]] | None = None
    """The name of a choice field, and the fields that depend on it: for each choice, the fields that the form
    shows only with this choice.
    """
    offers: tuple[str, Callable[[], str]] | None = None
    """The field of a secret, and the function that generates the secret.

    The form shows the generated secret, so users need not invent one.
    """
    reads: Operation | None = None
    """The operation that reads the values with which the form starts. If None, the form starts with the values of
    the record, or empty if there is no record.
    """
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
    """A document has the action only in these statuses. If None, every record has it."""
    next_in: frozenset[str] = frozenset()
    """The statuses in which the action is the next step of the work."""
    next_if: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """A condition on the record. If it is false, the action is not the next step, even in a status of `next_in`.
    """
    left: Callable[[Mapping[str, Any]], int] = lambda _: 0
    """A function that returns how many lines of a document still need this action."""
    is_direct: bool = False
    """True if the button runs the action directly, without a form."""
    then: tuple[str, str] | None = None
    """An additional button: the name of the action whose form it opens, and its text.

    The button first runs this action.
    """
    takes_packaging: bool = False
    """True if the action may also record returnable packaging."""
    takes_many: bool = False
    """True if a person can run the action on many records of a list in one step."""
    undone_by: str = ""
    """The name of the action that undoes this one."""
    leads_to: str = ""
    """The address of another record's form, below the company's address. Only for an action that just opens this
    form.

    `{id}` stands for the id of this record, or for several ids separated by commas.
    """
    merges: bool = False
    """True if the operation can merge this change with changes that other people saved meanwhile.

    The form then needs no version check.
    """
    begins_empty: frozenset[str] = frozenset()
    """The fields of rows that are empty when the form opens. A note next to each of these fields shows its stored
    value.
    """
    tells_when_shown: bool = False
    """True if the body must say when the page was shown. The body, or each of its rows, then has this time in
    `seen_at`.
    """
    only_if: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """A condition on the record. Only records that meet it have the action."""
    shows: tuple[tuple[str, ...], Callable[[Mapping[str, Any]], bool]] | None = None
    """Lines of the document that the form shows above the button. First the fields to show, then a function that
    returns True for the lines to show.
    """
    frozen: Callable[[str], frozenset[str]] = lambda _: frozenset()
    """A function that takes the status of a record, and returns the fields that cannot change in this status. The
    form leaves out these fields.
    """
    shown: Callable[[str | None], frozenset[str]] = lambda _: frozenset()
    """A function that returns the fields of lines that the form displays, but that people cannot change.

    The argument is the status of the document, or None for a new document.
    """
    done_where: tuple[str, str] | None = None
    """A field of the operation's answer, and a message. If the field is true, the next page shows this message
    instead of `done`.
    """

    def goes_with(self, field: str) -> tuple[str, str] | None:
        """Return the condition on which the form shows `field`: the name of the choice field, and the choice.

        Return None if the form always shows `field`.
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
        """Return a word for the outcome of the action, for the address of the next page.

        `message_for` returns the message for this word.
        """
        is_other = self.done_where is not None and answer.get(self.done_where[0])
        return f"{self.name}.else" if is_other else self.name

    def message_for(self, outcome: str) -> str:
        """Return the message for the word `outcome`. Return "" if the word belongs to another action."""
        if self.done_where is not None and outcome == f"{self.name}.else":
            return self.done_where[1]
        return self.done if outcome == self.name else ""

    @property
    def makes_one(self) -> bool:
        return not self.operation.path_types and not self.leads_to

    def ticked(self, name: str) -> dict[str, str | bool]:
        """Return the values of the ability fields of the form. A field is True if the set with this `name` has the
        ability.
        """
        found = (each.abilities for each in self.sets if each.name == name)
        return {f"abilities:{each}": each in abilities for abilities in found for each in (EVERYTHING, *ABILITIES)}

    def left_out(self, status: str | None) -> frozenset[str]:
        """Return the fields of the body that the form leaves out in the record's `status`. `status` is None for a
        new document.
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

    `listing` returns the records for a page of the list. `walking` returns the records for a file. `columns` are
    the fields in the list. In `columns`, a reference such as `article_id` is named without `_id`.
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
    """The fields that form the name of a record for people. If there are none, `key` is the name."""
    sort: str = "code"
    """For lists that can be ordered: the field of the default order. A `-` before the name means descending."""
    acts: tuple[Act, ...] = ()
    rules: Operation | None = None
    """The operation that returns the rules for a record: limits, and what they mean for this record."""
    changes: Operation | None = None
    """The operation that lists who created a record, and who changed the record or its status. Only for records
    whose changes are not in the audit.
    """
    further: tuple[str, str, str] | None = None
    """A further page about a record: its name in addresses, its title, and its description."""
    under: tuple[tuple[str, str], ...] = ()
    """The lists on the page of a record: the resource of each list, and the name of the filter that selects its
    records.

    If the filter's name ends in `_id`, its value is the id of this record. Otherwise its value is the code.
    """
    beside: tuple[tuple[str, Operation], ...] = ()
    """Further lists on the page of a record. Each has a title, and an operation that takes the record's id."""
    leads_to: tuple[str, tuple[str, ...]] | None = None
    """Only for records without a page. Their key links to the list of this resource, filtered by these fields."""
    path: tuple[str, ...] = ()
    """For documents: the normal sequence of statuses."""
    open_statuses: tuple[str, ...] = ()
    """For documents: the statuses of unfinished documents. Their status can still change."""
    of_article: Operation | None = None
    """For documents: the operation that returns the quantity of an article in each document."""
    due: Due | None = None
    """For documents: the field with the due date, and the statuses in which a document can be late."""
    says: str = ""
    """A text above the list. It says what the records are for."""
    comes: str = ""
    """A sentence that says where the records come from. An empty list shows it if people cannot create such
    records on a page.
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
        """The name of this kind of record in a company's audit. "" if the audit does not list such records."""
        named = (act.operation.audited for act in self.acts)
        return next((kind_of(each) for each in named if each is not None), "")

    def act(self, name: str, makes_one: bool) -> Act:
        """Return the action with this name. Raise Problem (404) if there is no such page.

        `makes_one` is True for actions that create a record.
        """
        named = (each for each in self.acts if each.name == name and each.makes_one == makes_one)
        return or_not_found(next((each for each in named if not each.leads_to), None), "page")

    def message_for(self, outcome: str) -> str:
        """Return the message for a word from `Act.outcome`, or "" if no action has this word."""
        return next(filter(None, (act.message_for(outcome) for act in self.acts)), "")

    def name_of(self, record: Mapping[str, object]) -> str:
        """Return the name of the record for people."""
        return " · ".join(str(record[field]) for field in self.named_by or (self.key,))

    @property
    def listed(self) -> list[Field]:
        """The fields of the list."""
        return [self.fields.get(name) or self.fields[f"{name}_id"] for name in self.columns]
