"""Records in the audit which settings have changed since the last start of the server.

The settings of the last start are the defaults, plus all changes that the audit contains. The audit has a keyed
hash in place of each secret. If the hash differs, the secret has changed.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from pydantic.fields import FieldInfo

from wmsd.base.vault import Vault
from wmsd.contract.secret_fields import Secret
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch import masking
from wmsd.settings.all_settings import Settings, sections
from wmsd.settings.toml_writer import toml
from wmsd.tenants.companies import store as companies
from wmsd.tenants.sign_on.providers import NOT_SHOWN

LOG = logging.getLogger("wmsd.audit")
CHANGE: Final = "settings.change"
SUBJECT: Final = "settings"
LONGEST_VALUE: Final = 300
CHANGES: Final = "SELECT details FROM audit WHERE action = ? AND details IS NOT NULL ORDER BY id"


async def audit_settings(platform: Database, settings: Settings, vault: Vault) -> None:
    """Record in the audit which settings have changed since the last start. Log an error if that fails."""
    defaults, now = _in_force(Settings(), vault), _in_force(settings, vault)
    try:
        before = await platform.read_long(lambda tx: _before(tx, defaults))
        if changed := companies.field_differences(before, now):
            await platform.write(lambda tx: companies.write_audit(tx, CHANGE, SUBJECT, changed), is_quiet=True)
    except (StorageError, *STORAGE_FAILURES) as error:
        LOG.error("the settings of this start could not be written to the audit: %s", error)


def _before(tx: Transaction, defaults: Mapping[str, str]) -> dict[str, object]:
    known: dict[str, object] = dict(defaults)
    for (details,) in tx.rows(CHANGES, (CHANGE,)):
        known |= {name: each["after"] for name, each in json.loads(details).items()}
    return known


def _in_force(settings: Settings, vault: Vault) -> dict[str, str]:
    dumped = settings.model_dump()
    return {
        f"{section}.{key}": _shown(field, dumped[section][key], getattr(getattr(settings, section), key), vault)
        for section, model in sections().items()
        for key, field in model.model_fields.items()
    }


def _shown(field: FieldInfo, dumped: Any, value: Any, vault: Vault) -> str:
    """Return the value of a setting as text for the audit. `dumped` is the value without its secrets.

    If the text does not show the complete value, add a keyed hash of the complete value.
    """
    if Secret in field.metadata and value:
        return f"{NOT_SHOWN} [{vault.mark(repr(value))}]"
    written = dumped if isinstance(dumped, str) else toml(dumped)
    shown = masking.text(written)
    is_whole = shown == written and len(shown) <= LONGEST_VALUE and not _has_tables(value)
    return shown if is_whole else f"{shown[:LONGEST_VALUE]} [{vault.mark(repr(value))}]"


def _has_tables(value: Any) -> bool:
    return isinstance(value, list) and any(not isinstance(each, str | int | float) for each in value)
