"""The sentences of a restore: what it replaces, what is missing afterwards, and what to do next."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from wmsd.base.plurals import count_of, first_few
from wmsd.data_folder.continue_numbers import RevokedAccess
from wmsd.data_folder.new_epoch import Missing
from wmsd.data_folder.platform_loss import UNKNOWN
from wmsd.maintenance.backups.manifest import BackedUpFile, LeftOut, Manifest
from wmsd.maintenance.backups.newest_backup import newest_with
from wmsd.maintenance.backups.restore import Restore, Restored

MOST_NAMED: Final = 20
WITHOUT_KEYS: Final = (
    "are replaced by new keys at the next start. All users must sign in again, integrators need new "
    "tokens (wmsd token create), and the credentials of every webhook must be set again; until "
    "then, its webhook deliveries wait. `wmsd recovery list` lists what is lost."
)
KEYS: Final = {
    "replaced": "The keys are those from the data folder: tokens still work, and users must sign in again.",
    "backup": "The keys are those from the backup: tokens still work, and users must sign in again.",
    "sealed": "The keys in the backup are encrypted: the server needs the key file that it had at that time "
    "(server.key_file).",
    "renewed": f"The keys of the installation {WITHOUT_KEYS}",
    "anew": f"The keys of the installation were not in the backup, and {WITHOUT_KEYS}",
}
KEYS_SHOWN: Final = {
    "replaced": "those from the data folder",
    "backup": "those of the backup",
    "sealed": "those of the backup, encrypted",
    "renewed": "new keys at the next start",
    "anew": "new keys at the next start",
}


INTEGRATORS: Final = (
    "When integrators' programs continue to read, the API reports to them what is lost. The guide "
    "describes this: /docs/using-the-api#after-a-restore"
)


def question(work: Restore, data: Path, file: BackedUpFile | None = None) -> str:
    """Return the question before a restore.

    `file` is the file of the only company to restore, or None for everything.
    """
    files = work.manifest.files if file is None else [file]
    later = work.written_after(files).items()
    events = some_of([f"{count_of(number, 'event')} of {code}" for code, number in later])
    what = f"everything ({some_of(each.code for each in files if each.code)})" if file is None else file.code
    return (
        f"This restores {what} in {data} to the state of {work.manifest.began_at}. Everything that was "
        f"written later is removed{f': at least {events}' if events else ''}. The present files are kept "
        f"in {data / work.replaced}.\nRestore this backup?"
    )


def _left_out(each: LeftOut, data: Path, backups: Path, installation: str) -> str:
    lacks = f"{each.code} is not in this backup ({each.reason.rstrip('.')})"
    if (data / "companies" / f"{each.company_id}.db").exists():
        return f"{lacks}; its file was not changed."
    lost = f"{lacks}, and has no file in the data folder"
    newest = newest_with(data, backups, each.code, installation)
    if newest == UNKNOWN:
        return f"{lost}. No backup in {backups} has this company: look for an older backup elsewhere."
    return f"{lost}. To restore the company: wmsd backup restore {newest} --company {each.code}"


def some_of(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    return ", ".join(first_few(names, MOST_NAMED))


def restore_sentences(manifest: Manifest, done: Restored, data: Path, backups: Path) -> list[str]:
    """Return the sentences after a restore.

    `backups` is a folder in which another backup may have the missing companies.
    """
    sentences = [*sentences_of_missing(done.missing), INTEGRATORS]
    if done.not_in_backup:
        sentences.append(
            f"Not in the backup: {', '.join(done.not_in_backup)}. These companies were created after the "
            f"backup; their files are in {done.replaced}."
        )
    sentences += [_left_out(each, data, backups, manifest.installation) for each in manifest.left_out]
    sentences += sentences_of_revoked_access(done.shut_out)
    sentences += sentences_of_replaced(done.replaced)
    if done.access_unknown_after is not None:
        sentences.append(sentence_of_access(done.access_unknown_after))
    return [*sentences, KEYS[done.keys]]


def sentence_of_access(moment: str) -> str:
    """Return the sentence about access that was revoked after `moment`. After the restore, this access may work
    again.
    """
    return (
        f"wmsd does not know which access was revoked or disabled after {moment}: such users, sites and "
        "tokens may have access again. `wmsd recovery list` lists them, until you confirm or end each."
    )


def sentences_of_revoked_access(found: RevokedAccess) -> list[str]:
    sentences = [
        f"{count_of(number, what)} that {was} revoked or disabled after the backup {stays} revoked or disabled."
        for what, number in found.counts.items()
        for was, stays in [("was", "stays") if number == 1 else ("were", "stay")]
    ]
    sentences += [
        f"The user {email} was deleted after the backup. The restore brought the user back, disabled: "
        f"`wmsd user delete {email}` deletes the user again, `wmsd user enable {email}` allows access."
        for email in found.deleted[:MOST_NAMED]
    ]
    if (more := len(found.deleted) - MOST_NAMED) > 0:
        sentences.append(f"{count_of(more, 'more deleted user')} came back, disabled: see `wmsd user list`.")
    if found.gone:
        users = "This user was" if len(found.gone) == 1 else "These users were"
        sentences.append(
            f"{users} created after the backup and cannot sign in any more: {some_of(found.gone)}. `wmsd "
            "user create` creates a user again."
        )
    return sentences


def sentences_of_replaced(folder: Path | None) -> list[str]:
    return (
        []
        if folder is None
        else [f"The previous files are in {folder}. Delete that folder when you do not need it any more."]
    )


def _events(lost: Missing) -> str:
    if lost.events == 1:
        return f"1 event ({lost.last_event}) came after the backup and is missing. New events get higher numbers."
    return (
        f"{lost.events} events ({lost.first_event} to {lost.last_event}) came after the backup and are "
        "missing. New events get higher numbers."
    )


def sentences_of_missing(missing: Mapping[str, Missing]) -> list[str]:
    """Return a sentence for each company about the changes that it has lost."""
    sentences = []
    for code, lost in missing.items():
        changed = "" if lost.last_change is None else f" The last lost change was at {lost.last_change}."
        if lost.events:
            sentences.append(f"{code}: {_events(lost)}{changed}")
        elif changed:
            sentences.append(f"{code}: changes after the backup are missing.{changed}")
    return sentences


def sentences_of_unread(codes: Iterable[str], missing: Mapping[str, Missing]) -> list[str]:
    """Return sentences about the companies in `codes`, whose replaced files could not be read.

    `missing` has the losses of some of these companies, as platform.db shows them. The keys are company codes.
    """
    unread = set(codes)
    known, unknown = sorted(unread & missing.keys()), sorted(unread - missing.keys())
    sentences = []
    if known:
        sentences.append(
            f"Changes of the last minute in {some_of(known)} may be missing too: no file could be read, so "
            "these numbers come from platform.db."
        )
    if unknown:
        sentences.append(
            f"wmsd does not know what {some_of(unknown)} had after the backup, because there was no readable file."
        )
    return sentences
