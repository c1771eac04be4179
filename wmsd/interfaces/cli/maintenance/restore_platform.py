"""What `wmsd backup restore --only-platform` does, and says."""

import shlex
from pathlib import Path
from typing import Any, Final

from wmsd.data_folder.folder import new_place
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.interfaces.cli.kit.command_line import CommandLine, note
from wmsd.interfaces.cli.kit.operations import at_the_command_line
from wmsd.interfaces.cli.kit.progress_bar import progress_bar
from wmsd.interfaces.cli.kit.questions import confirm
from wmsd.interfaces.cli.maintenance.restore_report import (
    KEYS,
    KEYS_SHOWN,
    sentence_of_replaced,
    sentences_of_shut_out,
    some_of,
)
from wmsd.maintenance.backups.newest_backup import newest_with
from wmsd.maintenance.platform_restore.adopt_companies import AdoptedCompany
from wmsd.maintenance.platform_restore.restore_platform import PlatformRestore, PlatformRestored

UNTOUCHED: Final = "The companies' files were not touched: their records, stock and history are complete."
MISSING: Final = (
    "What was changed after {made_at} at users, tokens, sites, operators and the settings of companies is "
    "missing. Look through wmsd user list and wmsd token list."
)


def restore_platform(
    command_line: CommandLine, work: PlatformRestore, asks: bool, as_json: bool
) -> dict[str, Any]:
    """Returns what the command prints."""
    folder, backups = command_line.folder, Path(command_line.settings.backup.folder)
    with new_place(folder):
        work.check_platform()
        if asks and work.puts_aside:
            confirm(_question(work, folder.path))
        with progress_bar("Restoring") as work.tell:
            done = work.platform_alone(backups, at_the_command_line())
    for sentence in _sentences(command_line, work, done, backups):
        note(sentence)
    settled = done.settled
    return {
        "restored": str(work.archive),
        "made_at": work.manifest.began_at,
        "only": PLATFORM_FILE,
        "adopted": [each.code for each in settled.adopted],
        "deleted": settled.deleted,
        "without_file": settled.without_file,
        "not_adopted": settled.not_adopted,
        "replaced": str(done.replaced) if done.replaced else None,
        "keys": done.keys if as_json else KEYS_SHOWN[done.keys],
    }


def _question(work: PlatformRestore, data: Path) -> str:
    return (
        f"This puts platform.db in {data} back to {work.manifest.began_at}: users, tokens, sites, operators and "
        "the settings of companies. The companies' files stay as they are. The platform.db that is there now is "
        f"kept in {data / work.replaced}.\nRestore it?"
    )


def _sentences(
    command_line: CommandLine, work: PlatformRestore, done: PlatformRestored, backups: Path
) -> list[str]:
    settled = done.settled
    sentences = [UNTOUCHED, MISSING.format(made_at=work.manifest.began_at)]
    for each in settled.adopted:
        sentences += _of_adopted(each)
    if settled.deleted:
        sentences.append(
            f"Deleted after the backup, and not served any more: {some_of(settled.deleted)}. Tokens that were for "
            "nothing else are revoked."
        )
    for code in settled.without_file:
        newest = newest_with(command_line.folder.path, backups, code, work.manifest.installation)
        quoted = shlex.quote(code)
        sentences.append(
            f"The file of {code} is missing, and nothing says that {code} was deleted. To bring it back: wmsd "
            f"backup restore {newest} --company {quoted}. If {code} was deleted: wmsd company delete "
            f"{quoted} --without-archive"
        )
    if settled.not_adopted:
        sentences.append(
            f"No company was created for {some_of(settled.not_adopted)}: wmsd cannot read in the file that it "
            "belongs to this installation. The file was left as it is; wmsd doctor says more."
        )
    sentences += sentences_of_shut_out(done.shut_out)
    if done.replaced:
        sentences.append(sentence_of_replaced(done.replaced))
    return [*sentences, KEYS[done.keys]]


def _of_adopted(company: AdoptedCompany) -> list[str]:
    code = shlex.quote(company.code)
    modules = ", ".join(company.modules)
    made = f"{company.code} (id {company.id}) was created after the backup, and is served again from its own file"
    access = f"Give it to its users: wmsd user change EMAIL --add-company {code}"
    renamed = (
        ""
        if company.code == company.had_code or company.is_known
        else f" Another company has the code {company.had_code} now, so its code is {company.code}."
    )
    if company.is_known:
        return [f"{made}. Its name and settings are those of the replaced platform.db.{renamed} {access}"]
    return [
        f"{made}. Its file does not say its name, operator, limits, and whether it is a sandbox: its name is "
        f"{company.name}, it has no operator and no limits of its own, and it is no sandbox.{renamed} Modules "
        f"that it has records of are on: {modules}. Change what is different: wmsd company change {code} "
        f"and wmsd module enable {code} MODULE. {access}"
    ]
