"""The permissions of a caller. wmsd checks them before an operation runs, and before a web page offers the
operation.
"""

from collections.abc import Container, Iterable
from typing import NamedTuple

from wmsd.contract.access import Role, has_role, needed_ability
from wmsd.contract.list_queries import Query
from wmsd.contract.operation import Operation


class Permissions(NamedTuple):
    """The permissions of a caller in a company, or in the installation if there is no company."""

    role: Role | None
    abilities: frozenset[str]
    in_force: Container[str]
    """The abilities that tokens may have in this installation."""
    modules: Container[str] = ()
    """The modules of the company."""
    is_person: bool = True
    """True for a user in the browser, False for a token. A user in the browser does not need the module "api"."""

    def objection(self, operation: Operation, asked: Iterable[str] = ()) -> str | None:
        """Return a sentence that says why the caller may not use the operation, or None if the caller may use it.

        `asked` are the names of the query parameters that the caller sends. Some parameters need an additional
        ability.
        """
        if operation.role is not None and not has_role(self.role, operation.role):
            return f"Only a {operation.role.replace('-', ' ')} may do this."
        if operation.scope == "installation":
            return None
        of_query = (
            operation.query.NEEDS if operation.query is not None and issubclass(operation.query, Query) else {}
        )
        for declared in (operation.ability, *(of_query[name] for name in asked if name in of_query)):
            needed = declared if self.is_person else needed_ability(declared, self.in_force)
            if declared is not None and self.abilities.isdisjoint({declared, needed}):
                return f"{'You lack' if self.is_person else 'This token lacks'} the ability {needed}."
        return self._off(operation)

    def _off(self, operation: Operation) -> str | None:
        needed = (operation.module,) if self.is_person else ("api", operation.module)
        for module in needed:
            if not is_on(module, self.modules, self.is_person):
                return f"The module {module} is off for this company."
        return None


def is_on(module: str | None, modules: Container[str], is_person: bool = True) -> bool:
    """Return True if `module` is None or among the company's modules.

    For a user in the browser, the module "api" is always on.
    """
    return module is None or module in modules or (is_person and module == "api")
