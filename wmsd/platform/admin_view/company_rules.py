"""What is in force for a company: its limits and its policies, each with where it comes from."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import not_found
from wmsd.contract.context import Caller, Company
from wmsd.contract.fields import Id, Model
from wmsd.dispatch.limits import company_limits
from wmsd.dispatch.limits.company_limits import Limit
from wmsd.platform import company_policies
from wmsd.platform.admin_view.service import OversightService
from wmsd.platform.admin_view.setting_origins import origin_of
from wmsd.platform.company_policies import POLICIES
from wmsd.tenants.companies.record_lists import for_company_admins


class CompanyRule(Model):
    """`setting` holds for all companies without a value of their own."""

    name: str
    value: bool | int | float | None
    """None: there is no such limit."""
    origin: Literal["built in", "configuration", "operator", "this company"]
    setting: str | None


class CompanyRules(Model):
    data: list[CompanyRule]
    operator_id: Id | None


@for_company_admins(answer="object", returns=CompanyRules, codes=("SERVICE_UNAVAILABLE",))
async def list_company_rules(service: OversightService, caller: Caller, id: int) -> dict[str, Any]:
    """List the limits and policies in force for a company, with where each comes from."""
    installation = service.installation
    company = await installation.access.company(id)
    if company is None or not caller.may_use(id):
        raise not_found("company")
    own = await (await installation.files.get(id)).read(company_policies.own)
    rules = [*_Rules(service, company).all(), *_policies(own)]
    operator = company.operator
    return {"data": [each.model_dump() for each in rules], "operator_id": operator and operator.id}


@dataclass(frozen=True, slots=True)
class _Rules:
    """Those that do not stand in the company's file."""

    service: OversightService
    company: Company

    def all(self) -> Iterator[CompanyRule]:
        company, settings = self.company, self.service.installation.settings
        yield self._limit("requests_per_minute", company_limits.requests_per_minute(company, settings.limits))
        yield self._limit("graphql_per_minute", company_limits.graphql_per_minute(company, settings.limits))
        quota = company_limits.quota_megabytes(company, settings.storage.quota_megabytes)
        yield self._limit("quota_megabytes", quota)
        yield self._setting("upload_megabytes", settings.imports.megabytes, "imports.megabytes")
        needs_ability = settings.returns.require_write_ability
        yield self._setting("returns_need_write", needs_ability, "returns.require_write_ability")
        yield self._sandbox()
        if company.sandbox:
            operator = company.operator
            may_send = operator is not None and operator.sandbox_webhooks
            origin: Any = "built in" if operator is None else "operator"
            yield CompanyRule(name="sandbox_webhooks", value=may_send, origin=origin, setting=None)

    def _sandbox(self) -> CompanyRule:
        """A company of a sandbox operator is one, whatever it says itself."""
        operator = self.company.operator
        by_operator = operator is not None and operator.sandbox
        origin: Any = "operator" if by_operator else "this company" if self.company.sandbox else "built in"
        return CompanyRule(name="sandbox", value=self.company.sandbox, origin=origin, setting=None)

    def _limit(self, name: str, limit: Limit) -> CompanyRule:
        if limit.is_own:
            return CompanyRule(name=name, value=limit.value, origin="this company", setting=limit.setting)
        return self._setting(name, limit.value or None, limit.setting)

    def _setting(self, name: str, value: int | None, setting: str) -> CompanyRule:
        section, _, key = setting.partition(".")
        is_built_in = origin_of(self.service.started.layers, section, key).source == "default"
        origin: Any = "built in" if is_built_in else "configuration"
        return CompanyRule(name=name, value=value, origin=origin, setting=setting)


def _policies(own: Mapping[str, int | None]) -> Iterator[CompanyRule]:
    for name, value in own.items():
        origin: Any = "built in" if value is None else "this company"
        shown = company_policies.as_number(POLICIES[name].in_force(value))
        yield CompanyRule(name=name, value=shown, origin=origin, setting=None)
