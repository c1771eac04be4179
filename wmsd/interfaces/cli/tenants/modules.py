"""The command `wmsd module`."""

import click

from wmsd.contract.access import MODULES
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, say, with_installation
from wmsd.tenants.companies import actions


@click.group()
def module_command() -> None:
    """Switch a company's modules on and off. A running server applies changes within a second."""


@module_command.command("list")
@click.argument("company", metavar="COMPANY")
@json_option
@with_installation
def list_modules(command_line: CommandLine, company: str, as_json: bool) -> None:
    """List all modules, and whether each is on for COMPANY."""
    found = command_line.read(lambda tx: actions.company_of_code(tx, company))
    rows = [
        {"module": module, "enabled": module in found.modules, "for": what} for module, what in MODULES.items()
    ]
    say(rows, as_json)


@module_command.command("enable")
@click.argument("company", metavar="COMPANY")
@click.argument("modules", metavar="[MODULE...]", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="All modules.")
@json_option
@with_installation
def enable_modules(
    command_line: CommandLine, company: str, modules: tuple[str, ...], is_all: bool, as_json: bool
) -> None:
    """Switch on the named modules for COMPANY, or all modules with --all."""
    if is_all == bool(modules):
        raise click.UsageError(f"Name the modules, or give --all: {', '.join(MODULES)}.")
    _switch(command_line, company, tuple(MODULES) if is_all else modules, True, as_json)


@module_command.command("disable")
@click.argument("company", metavar="COMPANY")
@click.argument("modules", metavar="MODULE...", nargs=-1, required=True)
@json_option
@with_installation
def disable_modules(command_line: CommandLine, company: str, modules: tuple[str, ...], as_json: bool) -> None:
    """Switch off the named modules for COMPANY. The company's data stays."""
    _switch(command_line, company, modules, False, as_json)


def _switch(
    command_line: CommandLine, company: str, modules: tuple[str, ...], enabled: bool, as_json: bool
) -> None:
    changed = command_line.write(
        lambda tx: [actions.set_module(tx, company, module, enabled) for module in modules]
    )
    rows = [
        {"module": module, "enabled": enabled, "changed": did}
        for module, did in zip(modules, changed, strict=True)
    ]
    say(rows, as_json)
