"""Encrypts (seals) the installation's keys in `platform.db`, with a secret in a separate key file."""

from collections.abc import Callable, Sequence
from typing import Final

from wmsd.base.vault import Vault
from wmsd.db.engine.failures import StorageError

SEALED: Final = "sealed:"
"""The prefix of an encrypted (sealed) text. No key or secret in clear text begins with it."""


class MasterKey:
    """The secrets of the key file. They encrypt (seal) and decrypt (unseal) texts.

    `load` reads the secrets from the file, the newest last. Another process may have changed the file. Therefore
    `load` is called before each `seal`. It is also called if no known secret can `unseal` a text.

    If `file` is "", there are no secrets, and `seal` does not encrypt. All methods can raise the errors of `load`.
    """

    def __init__(self, file: str, load: Callable[[], Sequence[str]]) -> None:
        self._file = file
        self._load = load
        self._vaults: dict[str, Vault] = {}
        self._read()

    @property
    def is_set(self) -> bool:
        return bool(self._file)

    def seal(self, text: str) -> str:
        """Encrypt the text with the newest secret in the key file. Return the text unchanged if there is no key
        file.
        """
        self._read()
        return f"{SEALED}{[*self._vaults.values()][-1].seal(text)}" if self._vaults else text

    def unseal(self, kept: str) -> str:
        """Decrypt a text that `seal` has encrypted. Return a text without the prefix `SEALED` unchanged. Raise
        StorageError if no known secret decrypts the text.
        """
        if not kept.startswith(SEALED):
            return kept
        text = self._unsealed(kept)
        if text is None:
            self._read()
            text = self._unsealed(kept)
        if text is None:
            raise StorageError(self._refusal())
        return text

    def _read(self) -> None:
        found = {secret: self._vaults.get(secret) or Vault(secret) for secret in self._load()}
        older = {secret: vault for secret, vault in self._vaults.items() if secret not in found}
        self._vaults = {**older, **found}

    def _unsealed(self, kept: str) -> str | None:
        sealed = kept.removeprefix(SEALED)
        texts = (vault.unseal(sealed) for vault in reversed([*self._vaults.values()]))
        return next((text for text in texts if text is not None), None)

    def _refusal(self) -> str:
        if not self._file:
            return (
                "The keys in platform.db are encrypted, but no key file is set. Set server.key_file to the "
                "file that `wmsd key move` created."
            )
        return (
            f"The keys in platform.db are not encrypted with the secret in {self._file}. Put back the key "
            "file that belongs to this data folder."
        )


IN_CLEAR: Final = MasterKey("", tuple)
