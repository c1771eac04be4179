"""The command `wmsd operator`."""

from dataclasses import asdict
from typing import Final

import click

from wmsd.base.problems import not_found
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.tenants.companies import actions, company_administration, store
from wmsd.tenants.companies.schema import NewOperator, OperatorChanges
from wmsd.tenants.companies.unknown_codes import similar_code

SANDBOX_WEBHOOKS: Final = (
    "Whether the operator's sandbox companies may send webhooks, with the header X-ThreePl-Sandbox: true."
)


@click.group()
def operator_command() -> None:
    """Create, change and list operators, who run the warehouses of several companies.

    Sandbox companies send no webhooks unless their operator allows them with --webhooks. Their webhook deliveries
    then have the header X-ThreePl-Sandbox: true.
    """


@operator_command.command("create")
@click.argument("code")
@click.option("--name", required=True, help="The name that people see.")
@click.option("--sandbox", is_flag=True, help="Make all companies of the operator sandboxes.")
@click.option(
    "--webhooks/--no-webhooks", "sandbox_webhooks", default=False, show_default=True, help=SANDBOX_WEBHOOKS
)
@json_option
@with_installation
def create_operator(command_line: CommandLine, /, as_json: bool, **given: str | bool) -> None:
    """Create the operator CODE."""
    new = validate_model(NewOperator, given)
    operator_id = command_line.write(lambda tx: actions.create_operator(tx, new))
    say({"id": operator_id, **new.model_dump()}, as_json)


@operator_command.command("change")
@click.argument("code")
@click.option("--name", help="The new name.")
@click.option("--sandbox/--no-sandbox", default=None, help="Whether all companies of the operator are sandboxes.")
@click.option("--webhooks/--no-webhooks", "sandbox_webhooks", default=None, help=SANDBOX_WEBHOOKS)
@with_installation
def change_operator(command_line: CommandLine, /, code: str, **given: str | bool | None) -> None:
    """Change the operator CODE. A running server applies the change within a second."""
    if all(value is None for value in given.values()):
        raise click.UsageError("No changes given. Give --name, --sandbox or --webhooks.")
    changes = validate_model(OperatorChanges, given)

    def change(tx: Transaction) -> None:
        operators = store.operators(tx)
        known = {each.code: each.id for each in operators}
        if code not in known:
            raise not_found(f"operator as {code}", similar_code(code, operators))
        company_administration.change_operator_record.action(tx, known[code], changes)

    command_line.write(change)
    note(f"{code} is changed.")


@operator_command.command("list")
@json_option
@with_installation
def list_operators(command_line: CommandLine, as_json: bool) -> None:
    """List the operators."""
    rows = [asdict(operator) for operator in command_line.read(store.operators)]
    say(rows, as_json, "No operators yet. To create an operator: wmsd operator create CODE --name NAME")
