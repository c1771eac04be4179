"""The rules for a record: the limits, their origins, and the pages where people can change them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.admin_menu import SETTINGS
from wmsd.interfaces.pages.kit.fields import name_of
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.tenants.companies.company_administration import change_operator_record

ORIGINS: Final = {
    "built in": "built in",
    "configuration": "the configuration",
    "operator": "the operator",
    "this company": "this company",
}


async def rules_of(at: Workplace, resource: Resource, record_id: int) -> Mapping[str, Any] | None:
    """Return the rules for a record as `rules`. If they cannot be read, return the error message as `refused`.

    Return None if such records have no rules, or if the person may not read rules. The `places` of a rule are
    links to the pages on which the person can change the rule.
    """
    if resource.rules is None or not at.may(resource.rules):
        return None
    answer = await at.ask(resource.rules, path={"id": str(record_id)}, is_counted=True)
    if not answer.is_good:
        return {"refused": translate_error(answer.body["message"])}
    address, operator_id = f"{at.address}/{resource.name}/{record_id}", answer.body["operator_id"]
    rules = [
        {
            "text": name_of(each["name"]),
            "value": each["value"],
            "origin": _(ORIGINS[each["origin"]]),
            "is_built_in": each["origin"] == "built in",
            "places": list(_places(at, resource, each, address, operator_id)),
        }
        for each in answer.body["data"]
    ]
    return {"rules": rules, "refused": ""}


def _places(
    at: Workplace, resource: Resource, rule: Mapping[str, Any], address: str, operator_id: int | None
) -> Iterator[tuple[str, str]]:
    """Yield a link to each page where the person may change the rule. A link is an address and a text."""
    for act in resource.acts:
        body = act.operation.body
        if act.changes and body is not None and rule["name"] in body.model_fields and at.may(act.operation):
            yield f"{address}/{act.name}", _(act.text)
    if rule["origin"] == "operator" and at.may(change_operator_record):
        yield f"{at.address}/operators/{operator_id}/change", _("Change the operator")
    if rule["setting"] is not None and at.may(SETTINGS.reads):
        query = urlencode({"search": rule["setting"]})
        yield f"{at.address}/{SETTINGS.name}?{query}", rule["setting"]
