"""The second factor of a user: an authenticator app, and ten recovery codes in case the app is lost."""

import base64
import hashlib
from typing import Final

from wmsd.base.ids import Ids
from wmsd.base.vault import Vault
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import totp
from wmsd.tenants.keys.bearers import secret_hash

RECOVERY_CODES: Final = 10
RECOVERY_LETTERS: Final = 16
"""The number of base32 letters in a recovery code. They have 80 random bits, so a hash without salt is safe."""
BEGIN: Final = """
    INSERT INTO second_factors (user_id, secret) VALUES (:user_id, :secret)
    ON CONFLICT (user_id) DO UPDATE SET secret = :secret, last_step = 0 WHERE NOT is_on
"""
NOTE_STEP: Final = "UPDATE second_factors SET last_step = :step WHERE user_id = :user_id AND last_step < :step"
ADD_CODE: Final = "INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)"
USE_CODE: Final = "DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?"
REMOVE_CODES: Final = "DELETE FROM recovery_codes WHERE user_id = ?"


def is_on(tx: Transaction, user_id: int) -> bool:
    return bool(tx.value("SELECT is_on FROM second_factors WHERE user_id = ?", (user_id,)))


def begin(tx: Transaction, user_id: int, vault: Vault) -> str:
    """Store a new secret and return it. The secret is used only after the second factor is switched on."""
    secret = _random(tx.ids, totp.SECRET_BYTES)
    tx.execute(BEGIN, {"user_id": user_id, "secret": vault.seal(secret)})
    return secret


def switch_on(tx: Transaction, user_id: int) -> list[str]:
    """Switch the second factor on. Return the recovery codes, which are shown only once."""
    tx.execute("UPDATE second_factors SET is_on = 1 WHERE user_id = ?", (user_id,))
    return renew_codes(tx, user_id)


def renew_codes(tx: Transaction, user_id: int) -> list[str]:
    """Return new recovery codes, which replace the remaining ones."""
    tx.execute(REMOVE_CODES, (user_id,))
    codes = [_random(tx.ids, totp.SECRET_BYTES)[:RECOVERY_LETTERS] for _ in range(RECOVERY_CODES)]
    tx.executemany(ADD_CODE, [(user_id, secret_hash(code)) for code in codes])
    return ["-".join(code[place : place + 4] for place in range(0, RECOVERY_LETTERS, 4)) for code in codes]


def codes_left(tx: Transaction, user_id: int) -> int:
    return tx.number("SELECT count(*) FROM recovery_codes WHERE user_id = ?", (user_id,))


def accepts(tx: Transaction, user_id: int, vault: Vault, code: str, may_recover: bool = True) -> bool:
    """Return True if the code is valid. A valid code is used up: it is not accepted again. Recovery codes are
    accepted only if `may_recover` is True.
    """
    found = tx.row("SELECT secret, is_on, last_step FROM second_factors WHERE user_id = ?", (user_id,))
    plain = code.replace(" ", "").replace("-", "").upper()
    if found is None:
        return False
    sealed, is_switched_on, last_step = found
    if len(plain) != totp.DIGITS:
        may_use = may_recover and bool(is_switched_on)
        return may_use and tx.execute(USE_CODE, (user_id, secret_hash(plain))).rowcount > 0
    secret = vault.unseal(sealed)
    step = None if secret is None else totp.step_of(secret, plain, tx.now, last_step)
    return step is not None and tx.execute(NOTE_STEP, {"user_id": user_id, "step": step}).rowcount > 0


def remove(tx: Transaction, user_id: int) -> bool:
    """Remove the second factor. Return True if it was on."""
    was_on = is_on(tx, user_id)
    tx.execute("DELETE FROM second_factors WHERE user_id = ?", (user_id,))
    tx.execute(REMOVE_CODES, (user_id,))
    return was_on


def _random(ids: Ids, size: int) -> str:
    """Return `size` random bytes as base32 text."""
    return base64.b32encode(hashlib.sha256(ids.secret().encode()).digest()[:size]).decode()
