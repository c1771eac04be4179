"""The program `wmsd`, and the table of its commands."""

import gc
import importlib
import io
import os
import sys
from typing import Final

import click

from wmsd import __version__

NAMES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}
COMMANDS: Final = {
    "serve": ("server.serve", "Serve the API and the pages."),
    "company": ("tenants.companies", "Create, change, show and delete companies (tenants)."),
    "operator": ("tenants.operators", "Create, change and list third-party-logistics operators."),
    "module": ("tenants.modules", "Switch a company's modules on and off."),
    "user": ("tenants.users", "Create, change and show users."),
    "token": ("tenants.tokens", "Create and revoke API tokens."),
    "key": ("tenants.keys", "Encrypt the keys of the installation, and change them."),
    "recovery-phrase": (
        "maintenance.recovery_phrase",
        "Create and check the phrase that restores the keys from a backup.",
    ),
    "site": ("tenants.sites", "Create, rotate and revoke the tokens of sites, for the transport integration."),
    "kernel-token": ("tenants.kernel_tokens", "Create, replace and revoke the platform token."),
    "import": ("files.import_export", "Import a CSV file: either all rows or no rows."),
    "export": ("files.import_export", "Write a CSV file that import can read."),
    "article": ("records.articles", "List, show, create and change articles."),
    "partner": ("records.partners", "List, show, create and change partners."),
    "client": ("records.clients", "List, show, create and change clients, the owners of goods."),
    "warehouse": ("records.warehouses", "List, show, create and change warehouses."),
    "stock": ("records.stock", "List, adjust and quarantine stock, and read its ledger."),
    "count": ("records.counts", "List, show, move and book stock counts."),
    "sales-order": ("records.sales_orders", "List, show and move sales orders."),
    "purchase-order": ("records.purchase_orders", "List, show and move purchase orders."),
    "reception": ("records.receptions", "List, show and move receptions."),
    "return": ("records.returns", "List, show and move returns."),
    "packaging": ("records.packaging", "Record returnable packaging, and show who owes how much."),
    "webhook": (
        "webhooks.webhooks",
        "List and test webhooks, switch them on and off, read their log, and send webhook deliveries again.",
    ),
    "graphql": ("about.graphql_schema", "Write the schema of the GraphQL interface."),
    "billing": ("tenants.billing", "Count a company's events by month, for billing."),
    "audit": ("tenants.audit", "List who changed what in the installation."),
    "status": ("server.status", "Show whether all is well: server, requests, disk, backups."),
    "logs": ("server.logs", "Show, filter and follow the log of the server."),
    "alerts": ("server.alerts", "List the open alerts, and test whether admins receive alerts."),
    "backup": ("maintenance.backups", "Create, list, verify and restore backups."),
    "recovery": ("maintenance.recovery", "List and settle the tasks after a restore."),
    "replica": (
        "maintenance.replica",
        "Keep a second copy of the data, a second or two behind, and serve from it.",
    ),
    "upgrade": ("maintenance.upgrade", "Upgrade to a newer program, after a trial run on copies."),
    "service": ("server.service", "Run wmsd as a systemd service."),
    "doctor": ("maintenance.doctor", "Check that all numbers are right, and that the files are undamaged."),
    "support-bundle": (
        "maintenance.support_bundle",
        "Write a file that helps others to find the cause of a problem, without secrets.",
    ),
    "tls": ("server.tls", "Show the certificate for the LAN, and how to trust it."),
    "clock": ("maintenance.clock", "Show whether the clock can be trusted, and confirm that it is right."),
    "config": ("maintenance.config", "Show and check the settings."),
    "completion": ("about.completion", "Set up the shell to complete commands and options."),
    "licenses": ("about.licenses", "List the third-party components of wmsd, with their licences."),
    "version": ("about.version", "Show the version."),
}


GARBAGE_COLLECTION: Final = (10_000, 20, 20)
"""The thresholds of Python's garbage collector. Collections are rarer than by default.

Imports and requests create many short-lived objects and few cycles.
"""

STARTS: Final = "To start the server: 'wmsd serve'; as a service: 'systemctl start wmsd'."
NEW_PASSWORD: Final = "Did you mean 'user reset-password'?"
OF_OTHERS: Final = {
    "start": STARTS,
    "run": STARTS,
    "stop": "To stop the server: Ctrl-C; as a service: 'systemctl stop wmsd'.",
    "restart": "To restart the server: Ctrl-C, then 'wmsd serve'; as a service: 'systemctl restart wmsd'.",
    "passwd": NEW_PASSWORD,
    "reset-password": NEW_PASSWORD,
    "update": "Did you mean 'upgrade'?",
    "restore": "Did you mean 'backup restore'?",
    "init": "Did you mean 'config init'? 'serve' creates the data folder.",
}
"""Hints for commands that people know from other programs. The key is the name that the user types.

Without a hint, the error suggests the wmsd command with the most similar name, which is misleading here.
"""


def open_those_closed() -> None:
    """Open /dev/null for each standard stream that the caller has closed (`serve >&-`).

    A closed stream is dangerous: the next file that wmsd opens gets the number of the stream, and messages are
    then written into that file.
    """
    for number in range(len(NAMES)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # open() takes the lowest free number, which is this one
    for name, mode in NAMES.items():
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  (stays open)


class Commands(click.Group):
    """The group of all commands. It knows their names and summaries, and imports only the command that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command in the arguments. Return its name, the command itself, and the arguments after the
        name.

        `help` works like --help. For an unknown command, raise UsageError with the hint in OF_OTHERS, or else
        NoSuchCommand, which suggests similar names. With `ctx.resilient_parsing`, return None as the name and as
        the command instead.
        """
        if args == ["help"]:
            click.echo(ctx.get_help())
            ctx.exit()
        if args[0] == "help":
            args = [*args[1:], "--help"]
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            if name in OF_OTHERS:
                raise click.UsageError(f"No such command '{name}'. {OF_OTHERS[name]}", ctx)
            raise click.NoSuchCommand(name, possibilities=COMMANDS, ctx=ctx)
        gc.disable()  # imported objects stay alive, and scanning them took a fifth of the start time
        try:
            return super().resolve_command(ctx, args)  # imports the command
        finally:
            gc.freeze()  # otherwise, the next collection would scan all of them
            gc.enable()

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. For an unknown option, raise NoSuchOption, which suggests similar options but no hidden
        ones.
        """
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            options = error.ctx.command.params if error.ctx else []
            hidden = {name for each in options if getattr(each, "hidden", False) for name in each.opts}
            near = [each for each in error.possibilities or () if each not in hidden]
            raise click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"wmsd.interfaces.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in COMMANDS.items()])


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="To begin: wmsd serve --demo. Help for a command: wmsd COMMAND --help",
)
@click.version_option(__version__, message="wmsd %(version)s", help="Show the version.")
def wmsd() -> None:
    """Run wmsd, a warehouse service for small sites.

    All data is in one data folder: ./data, unless --data, WMSD_SERVER_DATA or the configuration file names
    another folder.
    """


def main() -> None:
    """Run a command. Exit codes: 0 done, 1 failed, 2 not understood. The output is UTF-8 in every locale."""
    open_those_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    gc.set_threshold(*GARBAGE_COLLECTION)
    try:
        wmsd(prog_name="wmsd")
    except OSError as error:
        from wmsd.log.output import escape_controls

        click.echo(
            escape_controls(f"wmsd: {error.filename or 'Reading or writing failed'}: {error.strerror or error}."),
            err=True,
        )
        # otherwise flushing the remaining output at exit would fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
