"""The operations on the list of tasks after a restore: read the list, and settle its entries.

An admin decides how to settle an entry. But if a lost thing is created again, its entry is settled automatically.
"""

from collections.abc import Iterable
from typing import Any, Final

from wmsd.base.problems import FieldErrors, invalid, refuse_errors
from wmsd.contract.context import Caller
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import kernel_tokens, second_factor_actions, user_administration
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.record_lists import for_platform_admins
from wmsd.tenants.recovery import findings, store
from wmsd.tenants.recovery.schema import EndedAccess, RecoveryChoice, RecoveryList, TickedOff
from wmsd.tenants.recovery.store import Entry, How
from wmsd.tenants.sites import actions as sites

ADMIN: Final = "platform-admin"
NOT_CHOSEN: Final = (
    "must have at least one id. To choose all entries, leave this list empty and set `every` to true"
)
UNKNOWN: Final = "is not in the list; load the list again"
OF_LOST: Final = (
    "cannot be confirmed or ended: this entry is about something lost, not about access. Create what "
    "was lost again, or dismiss the entry"
)
OF_ACCESS: Final = (
    "cannot be dismissed: this entry is about access, not about something lost. Confirm the access, or end it"
)


@for_platform_admins(answer="object", returns=RecoveryList)
def list_recovery(tx: Transaction) -> dict[str, Any]:
    """List the tasks after a restore.

    `lost` lists things that must be created again. `access` lists access that the restore may have brought back.
    Each entry stays open until it is settled.
    """
    entries = [_shown(entry) for entry in store.open_entries(tx)]
    return {
        "access_unknown_after": store.access_unknown_after(tx),
        "lost": [entry for entry in entries if entry["kind"] in store.LOST],
        "access": [entry for entry in entries if entry["kind"] in store.ACCESS],
        "done": [_shown(entry) for entry in store.done_entries(tx) if entry["kind"] != "company"],
    }


def _shown(entry: Entry) -> Entry:
    finding = findings.finding_of(entry)
    kept = {name: value for name, value in entry.items() if name != "access_unknown_after"}
    return {**kept, "check": finding.kind.name, "sentence": finding.sentence, "remedy": finding.remedy}


@for_platform_admins(answer="object", returns=TickedOff, writes=True)
def dismiss_lost(tx: Transaction, body: RecoveryChoice) -> dict[str, Any]:
    """Dismiss lost things that are no longer needed."""
    done = _settled(tx, _chosen(tx, body, store.LOST, OF_ACCESS), "dismissed", "recovery.dismiss")
    return {"message": f"Dismissed entries: {done}.", "entries": done}


@for_platform_admins(answer="object", returns=TickedOff, writes=True)
def remove_lost_second_factors(tx: Transaction, body: RecoveryChoice) -> dict[str, Any]:
    """Remove second factors that are lost.

    Until a user sets up a second factor again, the password alone is enough to sign in.
    """
    chosen = _chosen(
        tx,
        body,
        ("second-factor",),
        "is not about a second factor: choose an entry of `wmsd recovery list` about a lost second factor",
    )
    for entry in chosen:
        second_factor_actions.remove_second_factor(tx, entry["subject"])
    return {"message": f"Removed second factors: {len(chosen)}.", "entries": len(chosen)}


@for_platform_admins(answer="object", returns=TickedOff, writes=True)
def confirm_access(tx: Transaction, body: RecoveryChoice) -> dict[str, Any]:
    """Confirm access that may stay."""
    done = _settled(tx, _chosen(tx, body, store.ACCESS, OF_LOST), "confirmed", "recovery.confirm")
    return {"message": f"Confirmed entries: {done}.", "entries": done}


@for_platform_admins(answer="object", returns=TickedOff, writes=True)
def end_access(tx: Transaction, caller: Caller, body: EndedAccess) -> dict[str, Any]:
    """End access that a restore may have brought back.

    Users are disabled, and the tokens of sites and of the platform are revoked. With `keep_users`, users are not
    disabled and may sign in again. Only their tokens are revoked and their sessions end.
    """
    chosen = _chosen(tx, body, store.ACCESS, OF_LOST)
    if body.every:
        chosen = [entry for entry in chosen if not (entry["kind"] == "user" and _is_admin(tx, entry))]
    for entry in chosen:
        _end(tx, caller, entry, body.keep_users)
    done = _settled(tx, chosen, "ended", "recovery.end", ended=len(chosen))
    return {"message": f"Entries with ended access: {done}.", "entries": done}


def _is_admin(tx: Transaction, entry: Entry) -> bool:
    return bool(tx.value("SELECT role = ? FROM users WHERE id = ?", (ADMIN, entry["user_id"])))


def _end(tx: Transaction, caller: Caller, entry: Entry, keeps_user: bool) -> None:
    match entry["kind"]:
        case "user":
            act = user_administration.end_user_access if keeps_user else user_administration.shut_out_user
            act.action(tx, caller, entry["user_id"])
        case "site":
            sites.revoke_site_bearer.action(tx, entry["record_id"])
        case "platform-token":
            kernel_tokens.revoke_kernel_token.action(tx, entry["record_id"])


def _chosen(tx: Transaction, choice: RecoveryChoice, kinds: Iterable[str], otherwise: str) -> list[Entry]:
    """Return the open entries that `choice` selects. `choice` has either the ids of entries, or `every`, which
    selects all entries of these `kinds`.

    Raise Problem (422) if `choice` has both or neither of them. Also raise Problem (422) if an id is unknown, or
    belongs to an entry that is not of these `kinds`. In the last case, the error text is `otherwise`.
    """
    ids = choice.entries
    if bool(ids) == choice.every:
        raise invalid({"entries": [NOT_CHOSEN]})
    if choice.every:
        return [entry for entry in store.open_entries(tx) if entry["kind"] in kinds]
    known = store.entries(tx, ids)
    errors: FieldErrors = {}
    for place, id in enumerate(ids):
        if id not in known:
            errors[f"entries.{place}"] = [UNKNOWN]
        elif known[id]["kind"] not in kinds:
            errors[f"entries.{place}"] = [otherwise]
    refuse_errors(errors)
    return [known[id] for id in dict.fromkeys(ids) if known[id]["done_at"] is None]


def _settled(tx: Transaction, chosen: list[Entry], how: How, action: str, ended: int | None = None) -> int:
    """Settle the entries, and record each of them in the audit. Return how many entries were settled.

    The operations that end access settle the entries themselves. Therefore, after these operations, the caller
    passes the number of entries as `ended`, and this function returns `ended`.
    """
    done = store.finish(tx, [entry["id"] for entry in chosen], how, tx.actor.name)
    for entry in chosen:
        companies.write_audit(tx, f"{action} {entry['kind']} {entry['name']}", entry["subject"])
    return done if ended is None else ended
