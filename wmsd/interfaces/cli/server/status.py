"""The command `wmsd status`."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import click

from wmsd import __version__
from wmsd.base.byte_sizes import size_text
from wmsd.base.machine.disk import Level, disk_of
from wmsd.base.plurals import count_of, first_few
from wmsd.data_folder import clock_verdict
from wmsd.data_folder.folder import DataFolder, Serving
from wmsd.data_folder.platform_facts import damage_of, read_platform
from wmsd.data_folder.platform_loss import restoring_platform
from wmsd.interfaces.cli.kit.command_hints import complete_commands
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, say, with_installation
from wmsd.interfaces.cli.server import live_status
from wmsd.maintenance.backups import other_server
from wmsd.maintenance.backups.backup_verdict import REMEDY, backup_verdict
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import BackupRecord, read_record
from wmsd.maintenance.backups.newest_backup import BackupsIn
from wmsd.maintenance.backups.schedule import local_now
from wmsd.maintenance.keys.key_protection import known_keys, protection
from wmsd.maintenance.replica.replica_verdict import replica_verdict as verdict_of_replica
from wmsd.maintenance.upgrades.journal import read_upgrade
from wmsd.platform.admin_view.findings_file import read_examination
from wmsd.server.alerts.alerts_file import as_of, read_alerts
from wmsd.server.alerts.mail_confirmation import state_of
from wmsd.server.figures.ask import figures_of
from wmsd.server.figures.schema import ServerFigures
from wmsd.tenants.companies import store as companies
from wmsd.tenants.recovery import findings as recovery_findings
from wmsd.tenants.recovery import store as recovery

EVERY_SECONDS: Final = 2.0
FULL: Final = {
    Level.WARNED: "The disk of {folder} is filling up: free some space.",
    Level.REFUSED: "The disk of {folder} is nearly full, and wmsd cannot store new data: free some space.",
}
CLEAR: Final = "\x1b[H\x1b[2J\x1b[3J"
"""The escape codes that clear the terminal and move the cursor to its top left corner."""


class Status(NamedTuple):
    """The lines to display, sentences about problems that need a person, and the metrics of a running server."""

    shown: dict[str, Any]
    wrong: list[str]
    figures: ServerFigures | None


@click.command("status")
@click.option("--watch", "is_watching", is_flag=True, help="Show the status every 2 s, until Ctrl-C.")
@json_option
@with_installation
def status_command(command_line: CommandLine, is_watching: bool, as_json: bool) -> None:
    """Show in a few lines whether all is well: server, requests, files, disk, backups.

    A running server reports its metrics: requests and their times in the last minute, open companies, waiting
    webhook deliveries, the largest log, memory. No company's file is opened. The command exits with 1 if a problem
    needs a person, or if a running server does not answer within 5 s. A stopped server does not count as a
    problem: a person may have stopped it. Over HTTP, /api/health says whether a running server is well. /metrics
    has its metrics for Prometheus if metrics.listen or metrics.token_file is set.
    """
    command_line.find()
    if is_watching:
        _watch(command_line, as_json)
        return
    status = _status(command_line)
    say(_as_json(status) if as_json else status.shown, as_json)
    if status.wrong:
        fail(status.wrong)


def status_as_json(command_line: CommandLine) -> dict[str, Any]:
    """Return the status as `--json` prints it."""
    return _as_json(_status(command_line))


def _status(command_line: CommandLine) -> Status:
    folder = command_line.folder
    server = folder.server()
    figures = None if server is None else figures_of(folder)
    silent = _silent(folder, server) if figures is None else None
    record = read_record(folder.path)
    backups = backup_verdict(command_line.settings.backup, record, local_now())
    disk, alerts = disk_of(folder.path), len(read_alerts(folder.path).open)
    files = [folder.platform_file, *folder.companies.glob("*.db")]
    known = (read_platform(folder, companies.codes) or {}) if server is None else {}
    frozen = (read_platform(folder, companies.frozen) or {}) if server is None else {}
    suspended = (read_platform(folder, companies.suspended) or {}) if server is None else {}
    shown: dict[str, Any] = {
        "version": __version__,
        "server": _server(server, silent is not None),
        **({} if figures is None else live_status.figure_rows(figures)),
        "companies": len(known) or len(files) - 1,
        **live_status.frozen(figures, frozen),
        **live_status.suspended(figures, suspended),
        "data": size_text(sum(path.stat().st_size for path in files if path.exists())),
        "disk": f"{size_text(disk.free)} free, {disk.percent} percent",
        "backup": backups.sentence,
        "backup folder": _backup_folder(command_line),
        "alerts go to": _alert_receivers(command_line),
        **_remembered(folder, alerts, server is not None),
    }
    wrong = [
        *_of_silence(silent),
        *([] if server is not None else _of_damage(command_line)),
        *([] if server is not None else _of_clock(folder)),
        *_of_missing_files(folder, known),
        *_of_alerts(folder, alerts, server is not None),
        *filter(None, [state_of(folder.path, command_line.settings.alerts).sentence]),
        *([] if silent is not None else _of_recovery(folder, figures, shown)),
        *_of_replica(command_line, shown),
        *_of_upgrade(folder, shown),
        *([FULL[disk.level].format(folder=folder.path)] if disk.level in FULL else []),
        *live_status.forgotten(figures, frozen),
        *([] if silent is not None else _of_keys(command_line, record, shown)),
    ]
    if not backups.ok:
        wrong.append(f"Backups: {backups.text} {REMEDY}")
    if (other := other_server.other_server_of(record)) is not None:
        wrong.append(f"{other_server.SAYS.format(archive=other.archive)} {other_server.REMEDY}")
    if figures is not None:
        wrong += live_status.conditions_of_server(figures)
        shown |= live_status.companies(figures)
    completed = {name: complete_commands(each) if isinstance(each, str) else each for name, each in shown.items()}
    return Status(completed, [complete_commands(each) for each in wrong], figures)


def _of_damage(command_line: CommandLine) -> Iterator[str]:
    """Yield a sentence if platform.db is damaged. This damage affects every request.

    Call this only if no server runs. A running server itself sends an alert about the damage.
    """
    folder = command_line.folder
    if damage := damage_of(folder):
        restoring = restoring_platform(folder.path, BackupsIn(command_line.backups))
        yield f"{folder.platform_file} is damaged: {damage}. Restore the file: {restoring}"


def _of_clock(folder: DataFolder) -> Iterator[str]:
    """Yield a sentence if the clock is probably wrong. A wrong clock affects all clients when a server runs.

    Call this only if no server runs. A running server itself reports a wrong clock.
    """
    if found := read_platform(folder, lambda tx: clock_verdict.stored(tx, datetime.now(UTC))):
        yield f"{found.sentence} {clock_verdict.REMEDY}"


def _of_keys(command_line: CommandLine, record: BackupRecord, shown: dict[str, Any]) -> Iterator[str]:
    """Add to `shown` how the keys are protected against the loss of this machine. Yield a sentence if the keys
    would be lost with this machine.
    """
    known = known_keys(command_line.folder)
    if known is None:
        return
    found = protection(known, command_line.settings.backup, record.made is not None)
    shown["keys"] = found.line if found.is_wrong or not found.sentence else found.sentence
    if (proven := record.there(command_line.settings.backup).proven) is not None and proven.keys:
        shown["keys in the proven backup"] = proven.keys
    if found.is_wrong:
        yield f"{found.sentence} {found.remedy}"


def _of_missing_files(folder: DataFolder, companies: Mapping[int, str]) -> Iterator[str]:
    there = {path.stem for path in folder.companies.glob("*.db")}
    if missing := [code for company_id, code in companies.items() if str(company_id) not in there]:
        codes = ", ".join(first_few(missing))
        yield f"The file of {codes} is missing. `wmsd doctor` says which backup has it, and how to restore it."


def _silent(folder: DataFolder, server: Serving | None) -> Serving | None:
    """Return `server` if it is running and should have reported its metrics. Otherwise return None.

    Call this function if `server` has reported no metrics. Metrics are not expected from a server that does not
    listen yet, that does not lock its files, or that has another version than this command.
    """
    tells = server is not None and server.is_ready and server.lends and server.version == __version__
    return server if tells and folder.server() == server else None


def _server(server: Serving | None, is_silent: bool) -> str:
    if server is None:
        return "not running"
    how = "does not answer" if is_silent else f"listening on {server.listen}"
    return f"process {server.pid}, {how}"


def _of_silence(silent: Serving | None) -> Iterator[str]:
    if silent is not None:
        yield (
            f"The server, process {silent.pid}, does not answer: it is suspended, stuck, very busy, or just "
            f"stopping. Try again. To continue a suspended server: kill -CONT {silent.pid}. Otherwise check "
            "the log, and restart the server."
        )


def _backup_folder(command_line: CommandLine) -> str:
    found = BackupFolder(command_line.backups)
    is_beside = found.is_on_disk_of(command_line.folder.path)
    return f"{found.path}{', on the same disk as the data: if the disk fails, both are lost' if is_beside else ''}"


def _of_alerts(folder: DataFolder, count: int, is_served: bool) -> Iterator[str]:
    if not count:
        return
    which = "`wmsd alerts` says which, and what to do."
    if is_served:
        yield f"{count_of(count, 'alert is', 'alerts are')} open: {which}"
    else:
        were = count_of(count, "alert was", "alerts were")
        yield f"{were} open for the last server{as_of(folder.path)}: {which} Start the server, which checks again."


def _alert_receivers(command_line: CommandLine) -> str:
    settings = command_line.settings.alerts
    mail = state_of(command_line.folder.path, settings)
    confirmed = f"confirmed {mail.at}" if mail.state == "confirmed" else "not confirmed yet"
    ways = [
        f"{', '.join(mail.to)} ({confirmed})" if mail.to else "",
        "the receiver of alerts.url" if settings.url else "",
        "the program of alerts.command" if settings.command else "",
    ]
    return ", ".join(filter(None, ways)) or "no one; to set up alerts, see /docs/monitoring"


def _of_recovery(folder: DataFolder, figures: ServerFigures | None, shown: dict[str, Any]) -> Iterator[str]:
    number = read_platform(folder, recovery.open_count) if figures is None else figures.recovery_open
    if number:
        shown["day after"] = f"{number} open: see wmsd recovery list"
        yield f"{recovery_findings.OPEN.format(number=number)} {recovery_findings.REMEDY}"


def _remembered(folder: DataFolder, count: int, is_served: bool) -> dict[str, str]:
    """Return two stored results as lines of the output: the number of open alerts (`count`), and the result of the
    last examination.

    If `is_served` is False, no server is running. Then the line about alerts says that they are those of the last
    server.
    """
    known = "" if is_served else f" for the last server{as_of(folder.path)}"
    shown = {"alerts": f"{count} open{known}: see wmsd alerts" if count else "none"}
    last = read_examination(folder.path)
    if last is not None:
        found = len(last.findings) + last.more + len(last.installation)
        ended = f"interrupted: {last.error}" if last.error else f"findings: {found or 'none'}"
        shown["examined"] = f"{last.began_at}, {ended}"
    return shown


def _of_replica(command_line: CommandLine, shown: dict[str, Any]) -> Iterator[str]:
    if command_line.settings.replica.enabled:
        replica = verdict_of_replica(command_line.folder)
        shown["replica"] = replica.sentence
        if not replica.ok:
            yield f"Replica: {replica.sentence.rstrip('.')}."


def _of_upgrade(folder: DataFolder, shown: dict[str, Any]) -> Iterator[str]:
    upgrade = read_upgrade(folder.path)
    if upgrade is not None:
        shown["upgrade"] = f"from {upgrade.from_version} to {upgrade.to_version}: {upgrade.outcome}"
        if upgrade.outcome == "under way":
            yield "An upgrade is in progress: start the server, which continues the upgrade."


def _as_json(status: Status) -> dict[str, Any]:
    live = None if status.figures is None else status.figures.model_dump()
    return {**status.shown, "ok": not status.wrong, "wrong": status.wrong, "live": live}


def _watch(command_line: CommandLine, as_json: bool) -> None:
    """Print the status every EVERY_SECONDS until Ctrl-C.

    On a terminal, each status replaces the one before. Elsewhere, each is a new line of text or of JSON.
    """
    is_terminal = sys.stdout.isatty() and not as_json
    try:
        while True:
            status = _status(command_line)
            if as_json:
                click.echo(json.dumps(_as_json(status), ensure_ascii=False))
            elif is_terminal:
                click.echo(CLEAR, nl=False)
                say(status.shown, as_json)
                for sentence in status.wrong:
                    click.secho(sentence, fg="red")
            else:
                click.echo(live_status.line(status.figures, status.wrong))
            sys.stdout.flush()
            time.sleep(EVERY_SECONDS)
    except KeyboardInterrupt:
        return
