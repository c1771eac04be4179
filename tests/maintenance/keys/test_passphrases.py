"""Encryption with a passphrase, on machines that are faster or busier than each other."""

import re

import pytest

from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.keys.passphrases import decrypt_secrets, encrypt_secrets

WORDS = "correct horse battery"
WORK = re.compile(rb"(-> scrypt \S+) (\d+)")
"""The pattern of the work factor in the header, which is not encrypted."""


def test_it_is_read_with_its_passphrase_only() -> None:
    sealed = encrypt_secrets({"key": "secret"}, WORDS)
    assert decrypt_secrets(sealed, WORDS) == {"key": "secret"}
    with pytest.raises(StorageError, match="are not encrypted with this passphrase"):
        decrypt_secrets(sealed, "correct horse buttery")


def test_one_that_takes_too_much_work_here_is_not_called_a_wrong_passphrase() -> None:
    sealed = WORK.sub(rb"\1 40", encrypt_secrets({"key": "secret"}, WORDS))
    with pytest.raises(StorageError, match="This machine is too slow or too busy"):
        decrypt_secrets(sealed, WORDS)
