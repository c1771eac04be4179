"""Encrypts the secrets in an archive with a passphrase, or seals them to recovery phrases.

The parameter `given` is a passphrase or a recovery phrase. The words of a recovery phrase have a checksum, so a
passphrase is hardly ever mistaken for a recovery phrase.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.plurals import first_few
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.manifest import Manifest, SealedTo
from wmsd.maintenance.keys.passphrases import NotOpened, decrypt_secrets, encrypt_secrets
from wmsd.maintenance.keys.recovery_phrase import Phrase, opened_with, phrase_in, sealed_to
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

FORM: Final = b"age-encryption.org/v1\n"


class Sealed(NamedTuple):
    content: bytes
    phrases: list[SealedTo]
    """The recovery phrases that open the secrets. Empty if a passphrase encrypted them."""


def seal_secrets(secrets: Any, given: str | None, phrases: Sequence[KnownPhrase]) -> Sealed | None:
    """Encrypt the secrets. Return None if there is no passphrase and no recovery phrase.

    `given` is a passphrase or a recovery phrase, from the user or the settings. If `given` is None, seal the
    secrets to `phrases`, the recovery phrases of the installation.
    """
    if given is not None:
        phrase = phrase_in(given)
        if phrase is None:
            return Sealed(encrypt_secrets(secrets, given), [])
        known = [each for each in phrases if each.recipient == phrase.recipient]
        phrases = known or [KnownPhrase(phrase.recipient, "")]
    if not phrases:
        return None
    sealed_to_phrases = [
        SealedTo(fingerprint=each.fingerprint, created_at=each.created_at or None, checked_at=each.checked_at)
        for each in phrases
    ]
    return Sealed(sealed_to(secrets, [each.recipient for each in phrases]), sealed_to_phrases)


def open_secrets(content: bytes, manifest: Manifest, given: str) -> Any:
    """Decrypt the secrets with `given`, a passphrase or a recovery phrase. Raise NotOpened if `given` does not
    decrypt them.
    """
    if not manifest.phrases:
        return decrypt_secrets(content, given)
    phrase = Phrase(given)
    names = [each.fingerprint for each in manifest.phrases]
    if phrase.fingerprint not in names:
        raise NotOpened(
            f"The secrets in this archive are encrypted with the recovery phrase {' or '.join(names)}, but "
            f"you typed the recovery phrase {phrase.fingerprint}. Type the other phrase."
        )
    return opened_with(content, phrase)


def may_open(manifest: Manifest, given: str) -> bool:
    """Return False if the archive needs a recovery phrase, but `given` is a passphrase. Otherwise return True.

    The result True does not mean that `given` decrypts the secrets.
    """
    return not manifest.phrases or phrase_in(given) is not None


def check_form(content: bytes) -> None:
    """Raise StorageError if the encrypted content does not begin like an age file. No passphrase is needed."""
    if not content.startswith(FORM):
        raise StorageError(
            "The encrypted part of this archive is damaged: it is not a valid age file. Copy the archive "
            "again, or use another archive."
        )


def said_of(manifest: Manifest) -> str:
    """Return how this archive protects the keys, as the end of a sentence that begins with "The keys are"."""
    if manifest.keys == "sealed":
        return "encrypted with the key file; keep a copy of the key file too"
    if manifest.keys == "left out":
        anew = "tokens, sessions and webhook credentials" if manifest.company is None else "they"
        return f"left out: after a restore, {anew} must be created again"
    if not manifest.phrases:
        return "encrypted with the passphrase"
    return f"encrypted with the recovery phrase {' and with '.join(first_few(map(_said, manifest.phrases)))}"


def _said(phrase: SealedTo) -> str:
    if phrase.checked_at is None:
        return f"{phrase.fingerprint}, not checked"
    return f"{phrase.fingerprint}, last checked at {phrase.checked_at}"
