"""A company as the person at the pages may use it."""

from dataclasses import dataclass
from typing import Any, Unpack

from wmsd.accounts import actions as accounts
from wmsd.base.operation import Operation
from wmsd.base.problems import Problem
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages.door import Answer, Door, Person, Sent
from wmsd.interfaces.pages.resources import REFERRED, RESOURCES, Act, Resource


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

    def acts(self, resource: Resource, makes_one: bool) -> list[Act]:
        """What the person may do here with a record, or to make one."""
        return [act for act in resource.acts if act.makes_one == makes_one and self.may(act.operation)]

    async def ask(self, operation: Operation, **sent: Unpack[Sent]) -> Answer:
        return await self.door.ask(self.person.browser, operation, self.id, **sent)

    async def need(self, operation: Operation, **sent: Unpack[Sent]) -> Any:
        """The body of a good answer. Raises Problem for a refusal."""
        return (await self.ask(operation, **sent)).needed()

    async def id_of(self, resource: Resource, code: str) -> int | None:
        """The id of the record with this code; None when there is none."""
        found = await self.need(resource.listing, query={"code": code}, is_counted=True)
        return found["data"][0]["id"] if found["data"] else None


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
