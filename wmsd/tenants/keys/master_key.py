"""Seals the installation's keys in `platform.db`, when a key file elsewhere holds the secret for it."""

from collections.abc import Callable, Sequence
from typing import Final

from wmsd.base.vault import Vault
from wmsd.db.engine.failures import StorageError

SEALED: Final = "sealed:"
"""The prefix of a sealed text; no key or secret in clear begins with it."""


class MasterKey:
    """`load` reads the secrets of the key file again, the newest last: another process may have changed them.

    Without a `file` there are no secrets, and texts stay in clear. Raises what `load` raises.
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
        """The text, sealed with the newest secret that is in the file now; unchanged when there is no file."""
        self._read()
        return f"{SEALED}{[*self._vaults.values()][-1].seal(text)}" if self._vaults else text

    def unseal(self, kept: str) -> str:
        """The text in clear. Raises StorageError when it is sealed with a secret that is not in the file."""
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
                "The keys in platform.db are sealed, and no key file is set. "
                "Set server.key_file to the file that `wmsd key move` made."
            )
        return (
            f"The keys in platform.db are not sealed with the secret in {self._file}. "
            "Put back the key file that belongs to this data folder."
        )


IN_CLEAR: Final = MasterKey("", tuple)
