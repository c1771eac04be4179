"""Where a person at the pages works: in a company, or at the installation itself."""

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
"""Companies that each page of a company names, so that one may go on to the same page there."""


@dataclass(frozen=True, slots=True)
class Workplace(ABC):
    door: PageClient
    person: Person
    name: str
    code: str

    ALL: ClassVar[tuple[Resource, ...]]
    """What there is, whoever asks."""

    @property
    @abstractmethod
    def address(self) -> str:
        """The address that those of its pages begin with."""

    @property
    @abstractmethod
    def permissions(self) -> Permissions:
        """What the person may use here. The operation asks for the same again."""

    @property
    def zone(self) -> ZoneInfo:
        """By which days begin and end here, whoever looks."""
        return self.door.time_zone

    @property
    def today(self) -> str:
        """The date here, such as 2026-11-24."""
        return day_in(self.door.now, self.zone)

    def may(self, operation: Operation) -> bool:
        return self.permissions.objection(operation) is None

    def check(self, operation: Operation) -> None:
        """Before a form for the operation is shown. Raises Problem (403)."""
        if objection := self.permissions.objection(operation):
            raise forbidden(objection)

    @abstractmethod
    async def ask(self, operation: Operation, **sent: Unpack[Sent]) -> Answer: ...

    @abstractmethod
    async def ask_once(self, operation: Operation, key: str | None, **sent: Unpack[Sent]) -> Answer:
        """As `ask`, for a form with this key: it is done once, however often it is sent. Raises Problem (409)."""

    @property
    def resources(self) -> list[Resource]:
        """What the person may read here."""
        return [resource for resource in self.ALL if self.may(resource.listing)]

    def offers(self, choice: str, is_of_person: bool = False) -> bool:
        """Whether a choice of a form is one here: not an ability that tokens of this installation cannot have."""
        return is_of_person or choice not in ABILITIES or choice in self.door.abilities

    def opens(self, name: str, is_of_person: bool = False) -> str:
        """What an ability or a module opens here, where its name does not say it already."""
        return words.opens(name, ABILITIES if is_of_person else self.door.abilities)

    @classmethod
    def resource(cls, name: str) -> Resource:
        """Raises Problem (404)."""
        return or_not_found(next((each for each in cls.ALL if each.name == name), None), "page")

    def acts(self, resource: Resource, record: Mapping[str, object] | None = None) -> list[Act]:
        """What the person may do here with the record; without one, to make one."""
        return [
            act
            for act in resource.acts
            if act.makes_one == (record is None) and self.may(act.operation) and act.fits(record or {})
        ]

    def bulk_acts(self, resource: Resource) -> list[Act]:
        """What the person may do with many records of a list at once."""
        return [act for act in resource.acts if act.takes_many and self.may(act.operation)]

    async def need(self, operation: Operation, **sent: Unpack[Sent]) -> Any:
        """The body of a good answer. Raises Problem for a refusal."""
        return (await self.ask(operation, **sent)).needed()

    async def id_of(self, resource: Resource, code: str) -> int | None:
        """The id of the record with this code; None when there is none."""
        found = await self.need(resource.listing, query={"code": code}, is_counted=True, is_brief=True)
        return found["data"][0]["id"] if found["data"] else None


@dataclass(frozen=True, slots=True)
class CompanyWorkplace(Workplace):
    id: str
    sandbox: bool
    frozen_at: str | None
    time_zone: str | None
    """Its own, if it has one."""
    modules: frozenset[str]
    abilities: frozenset[str]
    others: Sequence[Company]
    """The first other companies that the person may use."""
    has_more: bool
    """Whether there are others than these."""

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
        """The operations of a company keep the answer with the key."""
        sent["idempotency_key"] = key or None
        return await self.ask(operation, **sent)


@dataclass(frozen=True, slots=True)
class AdminWorkplace(Workplace):
    """Where people, companies and tokens are."""

    ALL = ADMINISTRATION

    @property
    def address(self) -> str:
        return "/admin"

    @property
    def permissions(self) -> Permissions:
        return Permissions(self.person.role, frozenset(), self.door.abilities)

    def offers(self, choice: str, is_of_person: bool = False) -> bool:
        """Not what this person may not give to anybody."""
        if choice == "platform-admin":
            return self.person.role == choice
        needed = ABILITIES.keys() if choice == EVERYTHING else {choice} & ABILITIES.keys()
        return Workplace.offers(self, choice, is_of_person) and needed <= frozenset(self.person.abilities)

    async def ask(self, operation: Operation, **sent: Unpack[Sent]) -> Answer:
        return await self.door.ask(self.person.browser, operation, **sent)

    async def ask_once(self, operation: Operation, key: str | None, **sent: Unpack[Sent]) -> Answer:
        """The operations of the installation keep no answer, since it may hold a token or the code of a link."""
        return await self.door.done_once(self.person.browser, key, partial(self.ask, operation, **sent))


@dataclass(frozen=True, slots=True)
class PersonalWorkplace(AdminWorkplace):
    """The person's own pages, which belong to no company and need no role."""


AT = web.RequestKey("at", Workplace)
"""Where the page of the request is."""


def place_of(request: web.Request) -> type[Workplace]:
    """The kind of workplace of the address."""
    return CompanyWorkplace if "company" in request.match_info else AdminWorkplace


async def workplace(door: PageClient, request: web.Request) -> Workplace:
    """The one of the address. Raises SignedOut, HTTPSeeOther and Problem (404)."""
    person, company_id = await door.person(request), request.match_info.get("company")
    if company_id is None:
        at: Workplace = AdminWorkplace(door, person, name=_("Administration"), code="wmsd")
    else:
        at = await company_at(door, person, company_id)
    request[AT] = at
    return at


async def personal_workplace(door: PageClient, request: web.Request) -> Workplace:
    """Whoever is signed in. Raises SignedOut and HTTPSeeOther."""
    return PersonalWorkplace(door, await door.person(request), name="", code="")


async def company_at(door: PageClient, person: Person, company_id: str) -> CompanyWorkplace:
    """The company with this id. Raises Problem (404)."""
    answer = await door.ask(person.browser, profile_actions.get_access, company_id=company_id)
    if not answer.is_good and answer.body["code"] == "COMPANY_REQUIRED":
        raise Problem("NOT_FOUND", "There is no such company, or you may not use it.")
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
