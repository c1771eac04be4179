"""The place where a person works on the pages: a company, or the installation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Unpack
from zoneinfo import ZoneInfo

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem, forbidden, or_not_found
from wmsd.base.time_zones import day_in, time_zone_of
from wmsd.contract.access import ABILITIES, EVERYTHING
from wmsd.contract.context import Company
from wmsd.contract.operation import Operation
from wmsd.contract.permissions import Permissions
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.acts import Act, Resource
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.interfaces.pages.kit.page_client import Answer, PageClient, Person, Sent
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.kit.text import words, zone
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.tenants.accounts import profile_actions

MOST_OTHERS: Final = 20
"""The maximum number of links to other companies on a page of a company.

Each link leads to the page with the same name in the other company.
"""


@dataclass(frozen=True, slots=True)
class Workplace(ABC):
    door: PageClient
    person: Person
    name: str
    code: str

    ALL: ClassVar[tuple[Resource, ...]]
    """All resources of workplaces of this class, including resources that the person may not read."""

    @property
    @abstractmethod
    def address(self) -> str:
        """The first part of the address of each page of the workplace."""

    @property
    @abstractmethod
    def permissions(self) -> Permissions:
        """The permissions of the person in this workplace. Pages use them to hide actions; each operation checks
        them again.
        """

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which days begin and end in this workplace. It is the same for every reader."""
        return self.door.time_zone

    @property
    def today(self) -> str:
        """Today's date in the time zone of the workplace, such as 2026-11-24."""
        return day_in(self.door.now, self.zone)

    def may(self, operation: Operation) -> bool:
        return self.permissions.objection(operation) is None

    def check(self, operation: Operation) -> None:
        """Raise Problem (403) if the person may not use the operation. Call this before the form of the operation
        is shown.
        """
        if objection := self.permissions.objection(operation):
            raise forbidden(objection)

    @abstractmethod
    async def ask(self, operation: Operation, **sent: Unpack[Sent]) -> Answer: ...

    @abstractmethod
    async def ask_once(self, operation: Operation, key: str | None, **sent: Unpack[Sent]) -> Answer:
        """Run the operation as `ask` does, but only for the first form with this key.

        For another form with this key, a company returns the stored answer. Other workplaces raise Problem (409).
        """

    @property
    def resources(self) -> list[Resource]:
        """The resources of the workplace that the person may read."""
        return [resource for resource in self.ALL if self.may(resource.listing)]

    def offers(self, choice: str, is_of_person: bool = False) -> bool:
        """Return True if a form in this workplace offers this choice.

        `is_of_person` is True in the form for the abilities of a user. Other forms, such as the form for a token,
        leave out abilities that are not in force in this installation.
        """
        return is_of_person or choice not in ABILITIES or choice in self.door.abilities

    def opens(self, name: str, is_of_person: bool = False) -> str:
        """Return a text that says what an ability or a module allows. Return "" if its name says the same.

        In the form for the abilities of a user, `is_of_person` is True. This form also offers abilities that are
        not in force.
        """
        return words.opens(name, ABILITIES if is_of_person else self.door.abilities)

    @classmethod
    def resource(cls, name: str) -> Resource:
        """Return the resource with this name. Raise Problem (404) if there is no such page."""
        return or_not_found(next((each for each in cls.ALL if each.name == name), None), "page")

    def acts(self, resource: Resource, record: Mapping[str, object] | None = None) -> list[Act]:
        """Return the actions that the person may run on `record`. If it is None, return the actions that create a
        record.
        """
        return [
            act
            for act in resource.acts
            if act.makes_one == (record is None) and self.may(act.operation) and act.fits(record or {})
        ]

    def bulk_acts(self, resource: Resource) -> list[Act]:
        """Return the actions that the person may run on several records of a list together."""
        return [act for act in resource.acts if act.takes_many and self.may(act.operation)]

    async def need(self, operation: Operation, **sent: Unpack[Sent]) -> Any:
        """Return the body of the answer. Raise Problem if the operation was refused."""
        return (await self.ask(operation, **sent)).needed()

    async def id_of(self, resource: Resource, code: str) -> int | None:
        """Return the id of the record with this code, or None if there is no such record."""
        found = await self.need(resource.listing, query={"code": code}, is_counted=True, is_brief=True)
        return found["data"][0]["id"] if found["data"] else None


@dataclass(frozen=True, slots=True)
class CompanyWorkplace(Workplace):
    id: str
    sandbox: bool
    frozen_at: str | None
    time_zone: str | None
    """The time zone of the company, or None if the company uses the time zone of the installation."""
    modules: frozenset[str]
    abilities: frozenset[str]
    others: Sequence[Company]
    """Other companies that the person may use. There may be more of them (see `has_more`)."""
    has_more: bool
    """True if the person may use other companies that are not in `others`."""

    ALL = RESOURCES

    @property
    def zone(self) -> ZoneInfo:
        return time_zone_of(self.door.time_zone, self.time_zone)

    @property
    def address(self) -> str:
        return f"/companies/{self.id}"

    @property
    def permissions(self) -> Permissions:
        return Permissions(self.person.role, self.abilities, self.door.abilities, self.modules)

    async def ask(self, operation: Operation, **sent: Unpack[Sent]) -> Answer:
        return await self.door.ask(self.person.browser, operation, self.id, **sent)

    async def ask_once(self, operation: Operation, key: str | None, **sent: Unpack[Sent]) -> Answer:
        """Run the operation with the idempotency key `key`. The company's database stores the answer with this
        key.
        """
        sent["idempotency_key"] = key or None
        return await self.ask(operation, **sent)


@dataclass(frozen=True, slots=True)
class AdminWorkplace(Workplace):
    """The workplace of an admin: people, companies and tokens."""

    ALL = ADMINISTRATION

    @property
    def address(self) -> str:
        return "/admin"

    @property
    def permissions(self) -> Permissions:
        return Permissions(self.person.role, frozenset(), self.door.abilities)

    def offers(self, choice: str, is_of_person: bool = False) -> bool:
        """Return True if a form in this workplace offers this choice. A form offers only choices that the person
        may grant.
        """
        if choice == "platform-admin":
            return self.person.role == choice
        needed = ABILITIES.keys() if choice == EVERYTHING else {choice} & ABILITIES.keys()
        return Workplace.offers(self, choice, is_of_person) and needed <= frozenset(self.person.abilities)

    async def ask(self, operation: Operation, **sent: Unpack[Sent]) -> Answer:
        return await self.door.ask(self.person.browser, operation, **sent)

    async def ask_once(self, operation: Operation, key: str | None, **sent: Unpack[Sent]) -> Answer:
        """Run the operation only once for this key. Raise Problem (409) for another form with this key.

        The answer is not stored, because it may contain a token or the code of a link.
        """
        return await self.door.done_once(self.person.browser, key, partial(self.ask, operation, **sent))


@dataclass(frozen=True, slots=True)
class PersonalWorkplace(AdminWorkplace):
    """The person's own pages, which belong to no company and need no role."""


AT = web.RequestKey("at", Workplace)
"""The request's key for the workplace of the page."""


def place_of(request: web.Request) -> type[Workplace]:
    """Return the class of the workplace to which the address of the request belongs."""
    return CompanyWorkplace if "company" in request.match_info else AdminWorkplace


async def workplace(door: PageClient, request: web.Request) -> Workplace:
    """Return the workplace to which the address of the request belongs.

    Raise Problem (404) if the person may not use the company. Also raise the errors of `door.person`.
    """
    person, company_id = await door.person(request), request.match_info.get("company")
    if company_id is None:
        at: Workplace = AdminWorkplace(door, person, name=_("Administration"), code="wmsd")
    else:
        at = await company_at(door, person, company_id)
    request[AT] = at
    return at


async def personal_workplace(door: PageClient, request: web.Request) -> Workplace:
    """Return the workplace of the signed-in person's account pages. Also raise the errors of `door.person`."""
    return PersonalWorkplace(door, await door.person(request), name="", code="")


async def company_at(door: PageClient, person: Person, company_id: str) -> CompanyWorkplace:
    """Return the workplace of the company with this id. Raise Problem (404) if the person may not use it."""
    answer = await door.ask(person.browser, profile_actions.get_access, company_id=company_id)
    if not answer.is_good and answer.body["code"] == "COMPANY_REQUIRED":
        raise Problem("NOT_FOUND", "This company does not exist, or you have no access to it.")
    found = answer.needed()
    company = found["company"]
    zone.use(time_zone_of(door.time_zone, person.time_zone, found["time_zone"]))
    others = await door.others(person, company["id"], MOST_OTHERS + 1)
    return CompanyWorkplace(
        door=door,
        person=person,
        id=str(company["id"]),
        name=company["name"],
        code=company["code"],
        sandbox=found["sandbox"],
        frozen_at=found["frozen_at"],
        time_zone=found["time_zone"],
        modules=frozenset(found["modules"]),
        abilities=frozenset(found["abilities"]),
        others=others[:MOST_OTHERS],
        has_more=len(others) > MOST_OTHERS,
    )
