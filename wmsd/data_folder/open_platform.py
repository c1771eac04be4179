"""Opens the platform's database, for the whole service or for a command."""

import logging
from typing import NamedTuple

from wmsd.base.clock import OrderedClock
from wmsd.base.ids import Ids
from wmsd.contract.context import PROGRAM, Actor
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.database import Database
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.transaction import Provision, Transaction
from wmsd.tenants.companies import store as companies
from wmsd.tenants.keys import key_store
from wmsd.tenants.keys.master_key import MasterKey
from wmsd.tenants.recovery.losses import list_losses
from wmsd.tenants.recovery.store import is_unlisted

LOG = logging.getLogger("wmsd.data")


class Platform(NamedTuple):
    database: Database
    secrets: dict[str, str]
    """The secrets by name."""
    installation: str
    codes: dict[int, str]
    """The codes of the companies by id."""
    marks: dict[int, HighWaterMark]
    """The high-water marks of the companies' files by company id."""


async def open_platform(
    folder: DataFolder,
    clock: OrderedClock,
    ids: Ids,
    key: MasterKey,
    services: Provision,
    alone: bool,
    who: Actor = PROGRAM,
) -> Platform:
    """Open the platform's database. Create its secrets when it is opened for the first time.

    `key` and `services` are available to actions in its transactions. `alone` is True if no other process can open
    the database. `who` is the default actor of changes. Raise StorageError if the secrets were encrypted with
    another key than `key`.
    """
    platform = Database(
        folder.platform_file,
        clock,
        ids,
        provision={MasterKey: key, **services},
        make_room=folder.release_reserve,
        uses_reserve=True,  # it must be possible to revoke a token even on a full disk
        alone=alone,
        who=who,
    )

    def make(tx: Transaction) -> dict[str, str]:
        has_keys = bool(key_store.signing_keys(tx))
        has_vault = key_store.secret(tx, "vault") is not None
        if not has_keys:
            key_store.add_signing_key(tx, tx.ids.unique()[:8], tx.ids.secret())
        for name in key_store.KEY_SECRETS:
            if key_store.secret(tx, name) is None:
                key_store.set_key_secret(tx, name, tx.ids.secret())
        list_losses(tx, lost_signing_keys=not has_keys, lost_vault=not has_vault)
        return key_store.key_secrets(tx)

    try:
        secrets = await platform.read(key_store.key_secrets)
        if key.is_set and await platform.read(key_store.are_in_clear):
            LOG.warning(
                "the keys in %s are not encrypted: `wmsd key move FILE` encrypts them", folder.platform_file
            )
        if len(secrets) < len(key_store.KEY_SECRETS) or await platform.read(is_unlisted):
            secrets = await platform.write(make)
        installation, codes, marks = await platform.read(
            lambda tx: (companies.installation(tx), companies.codes(tx), companies.marks(tx))
        )
        return Platform(platform, secrets, installation, codes, marks)
    except BaseException:
        await platform.close()
        raise
