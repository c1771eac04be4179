"""The findings of `wmsd doctor` about the installation: their output, and the fixes that are safe."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from wmsd.base.plurals import count_of
from wmsd.contract.findings import Finding
from wmsd.data_folder import clock_verdict, clock_watch
from wmsd.data_folder.messages import where_instead
from wmsd.db.engine.failures import StorageError
from wmsd.host import own_program
from wmsd.interfaces.cli.kit.command_hints import complete_commands
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, say_text
from wmsd.maintenance.backups.newest_backup import newest_with
from wmsd.maintenance.doctor.examine import Examination
from wmsd.maintenance.doctor.findings import diagnose
from wmsd.maintenance.doctor.fixes import fix_problem, fix_sentence
from wmsd.maintenance.doctor.mailboxes import read_emails
from wmsd.maintenance.doctor.search_index import damaged_indexes, empty_damaged_index
from wmsd.maintenance.doctor.situation import Situation
from wmsd.maintenance.keys.key_protection import read_known_keys
from wmsd.tenants.recovery.store import recovery

TITLES: Final = {"wrong": "Error", "warning": "Warning"}
GOOD: Final = "no problems found"
NOTHING_ELSE: Final = "no other problems found"


def diagnose_installation(
    command_line: CommandLine, examination: Examination, measured: bool = True
) -> list[Finding]:
    """Return the findings about the installation. The caller must first call `examination.companies`, which reads
    `platform.db`.

    If `measured` is True, the slow checks run too.
    """
    folder, now = command_line.folder, datetime.now(UTC)
    situation = Situation(
        folder=folder,
        settings=command_line.settings,
        now=now,
        codes=examination.codes,
        marks=examination.marks,
        keys=examination.read_platform(read_known_keys),
        clock=examination.read_platform(clock_watch.known),
        wrong_clock=examination.read_platform(lambda tx: clock_verdict.stored(tx, now)),
        emails=examination.read_platform(read_emails) or (),
        recovery=examination.read_platform(recovery),
        server=folder.server() if examination.is_beside_a_server else None,
        config_file=command_line.config_file,
        mistakes=command_line.mistakes,
        is_packed=own_program.is_packed(),
    )
    return diagnose(situation, measured)


def find_data(command_line: CommandLine) -> None:
    """Print the path of the data folder. Raise StorageError if the folder has no files to examine.

    A folder with companies' files is accepted even if it has no `platform.db`.
    """
    folder = command_line.folder
    is_of_backups = not any(folder.companies.glob("*.db")) and any(folder.path.glob("*.tar.gz"))
    if is_of_backups and not folder.is_made and not where_instead(folder.path):
        command_line.say_folder()
        newest = newest_with(folder.path, folder.path)
        raise StorageError(
            f"{folder.path.resolve()} has backups, but no data. To verify a backup: wmsd backup verify {newest}"
        )
    if folder.is_made or not any(folder.companies.glob("*.db")):
        command_line.find()
    else:
        command_line.say_folder()


def fix_findings(found: Sequence[Finding], is_dry_run: bool) -> list[dict[str, Any]]:
    """Fix the findings that can be fixed safely, and print each fix before and after it.

    Return an entry for each fix, with the keys `fix`, `done` and `error`. A dry run fixes and prints nothing.
    """
    done: list[dict[str, Any]] = []
    for finding in found:
        sentence = fix_sentence(finding)
        if sentence is None:
            continue
        error = None
        if not is_dry_run:
            note(f"Fix: {sentence}")
            error = fix_problem(finding)
            note("Done." if error is None else f"Not done: {error}.")
        done.append({"fix": sentence, "done": not is_dry_run and error is None, "error": error})
    return done


def fix_indexes(examination: Examination, is_dry_run: bool) -> list[dict[str, Any]]:
    """Empty the damaged search indexes, and print each fix before and after it.

    Return an entry for each fix, as `fix_findings` does. A dry run prints the fixes, but changes nothing.
    """
    done: list[dict[str, Any]] = []
    for damaged in damaged_indexes(examination):
        note(f"{'Would be fixed' if is_dry_run else 'Fix'}: {damaged.sentence}")
        error = None if is_dry_run else empty_damaged_index(examination, damaged)
        if not is_dry_run:
            note("Done." if error is None else f"Not done: {error}.")
        done.append({"fix": damaged.sentence, "done": not is_dry_run and error is None, "error": error})
    return done


def print_findings(
    found: Sequence[Finding], say: Callable[[str], None] = say_text, is_dry_run: bool = False
) -> None:
    """Print each finding and its remedy.

    In a dry run, a finding that `--fix` can fix is printed with this fix in place of its remedy.
    """
    for finding in found:
        sentence = fix_sentence(finding)
        say(f"{TITLES[finding.kind.severity]}: {complete_commands(finding.sentence)}")
        if sentence is not None and is_dry_run:
            say(f"  Would be fixed: {sentence}")
            continue
        say(f"  {complete_commands(finding.remedy)}")
        if sentence is not None:
            say(complete_commands(f"  wmsd doctor --fix fixes this: {sentence}"))


def verdict_of_findings(found: Sequence[Finding], are_files_right: bool = True) -> str:
    wrong = sum(finding.is_wrong for finding in found)
    warnings = len(found) - wrong
    parts = [
        count_of(wrong, "error") if wrong else "",
        count_of(warnings, "warning") if warnings else "",
    ]
    return ", ".join(filter(None, parts)) or (GOOD if are_files_right else NOTHING_ELSE)


def finding_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.kind.name,
        "severity": finding.kind.severity,
        "file": None if finding.path is None else str(finding.path),
        "sentence": complete_commands(finding.sentence),
        "remedy": complete_commands(finding.remedy),
        "fix": fix_sentence(finding),
    }
