"""`wmsd status`."""

import shutil
from typing import Any

import click

from wmsd import __version__
from wmsd.app.backups.due import local_now
from wmsd.app.backups.record import read_record
from wmsd.app.backups.verdict import verdict
from wmsd.app.health import LEAST_FREE_BYTES
from wmsd.app.replicas.verdict import verdict as verdict_of_replica
from wmsd.app.upgrades.journal import read_upgrade
from wmsd.interfaces.cli.command_line import CommandLine, fail, installed, json_option, say


@click.command("status")
@json_option
@installed
def status_command(command_line: CommandLine, as_json: bool) -> None:
    """Show whether all is well, in a few lines: server, disk, backups.

    It exits with 1 when something needs a person. Over HTTP, /api/health tells the same of a running server.
    """
    command_line.find()
    folder = command_line.folder
    server = folder.server()
    usage = shutil.disk_usage(folder.path)
    backups = verdict(command_line.settings.backup, read_record(folder.path), local_now())
    files = [folder.platform_file, *folder.companies.glob("*.db")]
    wrong: list[str] = []
    shown: dict[str, Any] = {
        "version": __version__,
        "server": "none runs" if server is None else f"process {server.pid}, listening on {server.listen}",
        "companies": len(files) - 1,
        "data": _megabytes(sum(path.stat().st_size for path in files if path.exists())),
        "disk": f"{_megabytes(usage.free)} free, {usage.free * 100 // usage.total} percent",
        "backup": backups.sentence,
    }
    if command_line.settings.replica.enabled:
        replica = verdict_of_replica(folder)
        shown["replica"] = replica.sentence
        wrong += [] if replica.ok else [f"Replica: {replica.sentence.rstrip('.')}."]
    upgrade = read_upgrade(folder.path)
    if upgrade is not None:
        shown["upgrade"] = f"from {upgrade.from_version} to {upgrade.to_version}: {upgrade.outcome}"
    if upgrade is not None and upgrade.outcome == "under way":
        wrong.append("An upgrade is under way: start the server, which goes on with it.")
    if usage.free < LEAST_FREE_BYTES:
        wrong.append(f"The disk of {folder.path} is nearly full: make room.")
    if not backups.ok:
        wrong.append(f"Backups: {backups.sentence}.")
    if as_json:
        shown["ok"] = not wrong
    say(shown, as_json)
    if wrong:
        fail(wrong)


def _megabytes(number: int) -> str:
    return f"{number / 1_000_000:.1f} MB"
