"""Rules about the status of documents: which status may follow which, and in which statuses a document may be
changed.

The rules have no side effects.
"""

from collections.abc import Collection, Mapping
from dataclasses import field
from enum import Enum
from typing import Generic, TypeVar

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.field_errors import FieldError

Status = TypeVar("Status", bound=str)
Effect = TypeVar("Effect")


class Step(Enum):
    CHANGE = "change the fields"
    MOVE = "move to the requested status"


class Forbidden(Problem):
    """The problem for a request that the current status of a document does not allow.

    `fields` are the names of the fields that cannot change. The name of the field with the lines may be among
    them.
    """

    fields: Collection[str] = ()


@dataclass(frozen=True)
class Transitions(Generic[Status, Effect]):
    """The allowed changes of status for one kind of document.

    `table` has each allowed change from one status to another, and its effect. All other changes are refused. A
    request for the current status does nothing, so a client can safely repeat a request.

    Fields may change in the statuses `fields_change_in`, and lines in `lines_change_in`. If a field has a
    different rule, `own_change_in` has its statuses.
    """

    noun: str
    table: Mapping[tuple[Status, Status], Effect]
    lines_change_in: frozenset[Status]
    fields_change_in: frozenset[Status]
    lines: str = "lines"
    own_change_in: Mapping[str, frozenset[Status]] = field(default_factory=dict)

    def allowed_from(self, status: Status) -> list[Status]:
        return [after for before, after in self.table if before == status]

    def effect(self, current: Status, requested: Status) -> Effect:
        """Return the effect of the change from status `current` to `requested`. Raise Problem (409) if this change
        is not allowed.
        """
        effect = self.table.get((current, requested))
        if effect is None:
            sentence = f"A {self.noun} with the status {current} {self._possible(current, requested)}."
            raise self.forbidden(sentence, current, requested)
        return effect

    def shortest_path(self, current: Status, requested: Status) -> list[Status]:
        """Return the shortest path of statuses from `current` to `requested`, without `current`. The path is empty
        if both are the same.

        Raise Problem (409) if there is no path.
        """
        ways: list[list[Status]] = [[current]]
        for way in ways:
            if way[-1] == requested:
                return way[1:]
            ways += [[*way, after] for after in self.allowed_from(way[-1]) if after not in way]
        raise self.forbidden(f"The status cannot change from {current} to {requested}.", current, requested)

    def steps(self, current: Status, requested: Status, differing: Collection[str]) -> list[Step]:
        """Return the steps of a request that changes the fields and the status of a document, in their order.

        If the current status allows a change of the fields, they change before the status. Otherwise they change
        after it. `differing` are the names of the fields that change. The name of the field with the lines may be
        among them.

        Raise Problem (409) if the change of status is not allowed. Also raise it if the fields may change neither
        in the current nor in the requested status.
        """
        moves = requested != current
        if moves:
            self.effect(current, requested)
        if not differing:
            return [Step.MOVE] if moves else []
        change_in = frozenset.intersection(*map(self._change_in, differing))
        if current in change_in:
            return [Step.CHANGE, Step.MOVE] if moves else [Step.CHANGE]
        if moves and requested in change_in:
            return [Step.MOVE, Step.CHANGE]
        frozen = [name for name in differing if not self._change_in(name) & {current, requested}]
        sentence = self._frozen(current, differing)
        raise self.forbidden(sentence, current, requested if moves else None, fields=frozen)

    def may_change(self, status: Status, names: Collection[str]) -> frozenset[str]:
        """Return those of the fields `names` that may change in this status. The name of the field with the lines
        may be among them.
        """
        return frozenset(name for name in names if status in self._change_in(name))

    def _change_in(self, name: str) -> frozenset[Status]:
        """Return the statuses in which the field may change."""
        if name == self.lines:
            return self.lines_change_in
        return self.own_change_in.get(name, self.fields_change_in)

    def forbidden(
        self,
        message: str,
        current: Status,
        requested: Status | None = None,
        refused: Collection[Status] = (),
        fields: Collection[str] = (),
    ) -> Forbidden:
        """Return a problem (409) with the text `message`. Its details have the statuses to which the document may
        change. `requested` is None if the request does not change the status.

        `refused` are statuses that `table` allows, but that another rule forbids. `fields` are the names of the
        fields that cannot change.
        """
        allowed = [each for each in self.allowed_from(current) if each != requested and each not in refused]
        details = {"current": current, "requested": requested, "allowed": allowed}
        problem = Forbidden("INVALID_STATUS", message, details=details)
        problem.fields = fields
        return problem

    def forbidding(self, path: str, sentence: str, current: Status) -> FieldError:
        """Return the error (409) for a request that refers to another document, whose status `current` forbids the
        request.

        `path` is the field of the request that refers to this document. `sentence` is the error text.
        """
        details = {"current": current, "requested": None, "allowed": self.allowed_from(current)}
        return FieldError("INVALID_STATUS", path, sentence, details)

    def _possible(self, current: Status, requested: Status) -> str:
        allowed = self.allowed_from(current)
        if not allowed:
            return "cannot change its status any more"
        before, last = ", ".join(allowed[:-1]), allowed[-1]
        return f"cannot become {requested}, only {before}{' or ' if before else ''}{last}"

    def _frozen(self, current: Status, differing: Collection[str]) -> str:
        sentence = f"This {self.noun} is {current}."
        if current not in self.fields_change_in:
            own = [name for name, statuses in self.own_change_in.items() if current in statuses]
            if not own:
                return f"{sentence} It cannot be changed any more."
            before, last = ", ".join(own[:-1]), own[-1]
            return f"{sentence} Only its {before}{' and ' if before else ''}{last} can be changed now."
        frozen = [name for name in differing if current not in self._change_in(name)]
        before, last = ", ".join(frozen[:-1]), frozen[-1]
        thaws_in = frozenset.intersection(*map(self._change_in, frozen))
        back = [status for status in self.allowed_from(current) if status in thaws_in]
        if back:
            return f"{sentence} Move it back to {back[0]} to change its {before}{' and ' if before else ''}{last}."
        return f"{sentence} Its {before}{' and ' if before else ''}{last} cannot be changed any more."
