"""The work of `wmsd company change`, which runs the same operations as the pages in the browser."""

from collections.abc import Mapping
from typing import Any, Final

import click

from wmsd.base.problems import FieldErrors, Problem, refuse_errors
from wmsd.contract import csv_cells
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note
from wmsd.interfaces.cli.kit.company_data import database_to_change
from wmsd.interfaces.cli.kit.operations import act
from wmsd.platform.company_policies import POLICIES, policies_as_json
from wmsd.tenants.companies import actions, company_administration, store
from wmsd.tenants.companies.schema import CompanyChanges, CompanySettingsPatch

NONE: Final = "none"
OR_INSTALLATION: Final = ("requests_per_minute", "graphql_per_minute", "quota_megabytes", "time_zone")
"""Fields of a company that may be empty. If one is empty, the value of the installation applies."""


def change(command_line: CommandLine, code: str, given: Mapping[str, Any]) -> None:
    """Change the company. `given` has the value of each option by name; None if the option was not given."""
    rules = {name: given[name] for name in POLICIES if given[name] is not None}
    fields = {name: given[name] for name in CompanyChanges.model_fields if given[name] is not None}
    if given["operator_code"] is not None and given["no_operator"]:
        raise click.UsageError("Give --operator or --no-operator, not both.")
    if given["operator_code"] is None and not (rules or fields or given["no_operator"]):
        options = "--name, --operator, --sandbox, a limit, --quota-megabytes, --time-zone, --over-receipt-pct"
        raise click.UsageError(f"No changes given. Give {options} or --min-stock.")
    validate_model(CompanyChanges, fields)
    settings = {name: value or None if name in OR_INSTALLATION else value for name, value in fields.items()}
    if given["operator_code"] is not None or given["no_operator"]:
        settings["operator_code"] = given["operator_code"]
    body = validate_model(CompanySettingsPatch, settings) if settings else None
    policies = _policies(rules)

    async def work(installation: Installation) -> None:
        company = await installation.platform.read(lambda tx: actions.company_of_code(tx, code))
        if policies:  # first, because they are in another file, and the audit must record only completed changes
            await _set_policies(installation, code, policies)
        if body is not None:
            await act(installation, company_administration.change_company_record, id=company.id, body=body)

    command_line.run(work)
    note(f"{code} is changed.")


def _policies(given: Mapping[str, str]) -> dict[str, int | None]:
    """Return the values of the company's rules, such as `min_stock`, from the texts of the options. The text
    `none` becomes None if the rule is optional.

    Raise Problem (422) if a text is not valid.
    """
    errors: FieldErrors = {}
    values: dict[str, int | None] = {}
    for name, text in given.items():
        policy = POLICIES[name]
        if policy.is_optional and text.strip().lower() == NONE:
            values[name] = None
            continue
        try:
            number = csv_cells.typed_reader(policy.model.model_fields[name])(text)
            values[name] = getattr(validate_model(policy.model, {name: number}), name)
        except Problem as problem:
            errors |= problem.errors
        except ValueError as error:
            errors[name] = [str(error)]
    refuse_errors(errors)
    return values


async def _set_policies(installation: Installation, code: str, policies: Mapping[str, int | None]) -> None:
    def write(tx: Transaction) -> dict[str, object]:
        before = policies_as_json(tx)
        for name, value in policies.items():
            POLICIES[name].write(tx, value)
        return store.field_differences(before, policies_as_json(tx))

    changed = await (await database_to_change(installation, code)).write(write)
    await installation.platform.write(lambda tx: store.write_audit(tx, "company.policies", code, changed))
