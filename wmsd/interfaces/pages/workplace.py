"""A company as the person at the pages may use it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wmsd.accounts import actions as accounts
from wmsd.base.operation import Operation
from wmsd.base.problems import Problem
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages.door import Answer, Door, Person
from wmsd.interfaces.pages.resources import REFERRED, RESOURCES, Resource


@dataclass(frozen=True, slots=True)
class Workplace:
    door: Door
    person: Person
    id: str
    name: str
    code: str
    modules: frozenset[str]
    abilities: frozenset[str]

    @property
    def address(self) -> str:
        return f"/companies/{self.id}"

    @property
    def resources(self) -> list[Resource]:
        """What the person may read here."""
        return [resource for resource in RESOURCES if self.may(resource.listing)]

    def resource_referred(self, field: str) -> Resource:
        """What a field refers to."""
        return REFERRED[field]

    def may(self, operation: Operation) -> bool:
        """Whether the person may use the operation here. The operation decides it again."""
        is_on = operation.module in (None, "api") or operation.module in self.modules
        return is_on and (operation.ability is None or operation.ability in self.abilities)

    async def ask(
        self,
        operation: Operation,
        document: Mapping[str, object] | None = None,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        is_counted: bool = False,
    ) -> Answer:
        return await self.door.ask(
            self.person.browser, operation, document, path, query, company_id=self.id, is_counted=is_counted
        )

    async def need(
        self,
        operation: Operation,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        is_counted: bool = False,
    ) -> Any:
        """The body of a good answer. Raises Problem for a refusal."""
        return (await self.ask(operation, None, path, query, is_counted)).needed()


async def workplace(door: Door, request: web.Request) -> Workplace:
    """The company of the address. Raises HTTPSeeOther for who is not signed in, and Problem (404)."""
    person = await door.person(request)
    company_id = request.match_info["company"]
    answer = await door.ask(person.browser, accounts.get_access, company_id=company_id)
    if not answer.is_good and answer.body["code"] == "COMPANY_REQUIRED":
        raise Problem("NOT_FOUND", "There is no such company, or you may not use it.")
    found = answer.needed()
    company = found["company"]
    return Workplace(
        door=door,
        person=person,
        id=str(company["id"]),
        name=company["name"],
        code=company["code"],
        modules=frozenset(found["modules"]),
        abilities=frozenset(found["abilities"]),
    )
