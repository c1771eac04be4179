"""The recovery phrase: twelve words of BIP-39 (https://bips.dev/39), which encode 128 random bits and a checksum.

The words determine one X25519 key of age. This key is the first 32 bytes of the BIP-39 seed with the BIP-39
passphrase "wmsd backup". wmsd stores only the key's public half, which is called the recipient.
"""

import difflib
import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import pyrage
from mnemonic import Mnemonic

from wmsd.base import bech32
from wmsd.db.engine.transaction import Transaction
from wmsd.maintenance.keys.passphrases import NotOpened
from wmsd.tenants.keys import recovery_phrases
from wmsd.tenants.keys.recovery_phrases import phrase_fingerprint

WORDS: Final = 12
BITS: Final = 128
PURPOSE: Final = "wmsd backup"
"""The BIP-39 passphrase. Cryptocurrency wallets do not use it, so they get other keys from the same words."""
KEY_BYTES: Final = 32
PREFIX: Final = "age-secret-key-"
NUMBER: Final = re.compile(r"[0-9]{1,2}[.):]?", re.ASCII)
"""A pattern for the number before a word in a numbered list."""
ALIKE: Final = 0.5
"""How similar a word must be to a mistyped word, to be suggested instead of it. 0 means not similar, and 1 means
equal.
"""


class WrongPhrase(NotOpened):
    """The error for words that are not a recovery phrase. Its message says why."""


class Phrase:
    """A recovery phrase, either typed by a user or newly created. Only the attribute `words` contains its text."""

    def __init__(self, words: str) -> None:
        """Read the phrase in `words`. Raise WrongPhrase if the words are not a recovery phrase."""
        self.words = _checked(words)
        seed = Mnemonic.to_seed(self.words, PURPOSE)
        key = bech32.encoded(PREFIX, seed[:KEY_BYTES]).upper()
        self.identity = pyrage.x25519.Identity.from_str(key)
        self.recipient = str(self.identity.to_public())

    @property
    def fingerprint(self) -> str:
        return phrase_fingerprint(self.recipient)

    def __repr__(self) -> str:
        return f"<recovery phrase {self.fingerprint}>"


def new_phrase() -> Phrase:
    return Phrase(_list().generate(BITS))


def phrase_in(text: str) -> Phrase | None:
    """Return the phrase in the text, or None if the text is something else, such as the user's own passphrase."""
    try:
        return Phrase(text)
    except WrongPhrase:
        return None


def sealed_to(secrets: Any, recipients: Iterable[str]) -> bytes:
    """Encrypt the secrets, as JSON, so that the phrase of each recipient can decrypt them."""
    public = [pyrage.x25519.Recipient.from_str(each) for each in recipients]
    return bytes(pyrage.encrypt(json.dumps(secrets, indent=1).encode(), public))


def opened_with(sealed: bytes, phrase: Phrase) -> Any:
    """Decrypt the secrets. Raise NotOpened if they are sealed to another phrase."""
    try:
        return json.loads(pyrage.decrypt(sealed, [phrase.identity]))
    except (pyrage.DecryptError, ValueError):
        raise NotOpened(
            f"The secrets in this archive are not encrypted with the recovery phrase {phrase.fingerprint}."
        ) from None


def _checked(text: str) -> str:
    """Return the words in lower case with single spaces. Raise WrongPhrase if they are not a recovery phrase."""
    words = [each for each in Mnemonic.normalize_string(text).lower().split() if not NUMBER.fullmatch(each)]
    if len(words) != WORDS:
        raise WrongPhrase(f"A recovery phrase has {WORDS} words, but this text has {len(words)}. Type all words.")
    for number, word in enumerate(words, 1):
        if word not in _list().wordlist:
            raise WrongPhrase(f'Word {number}, "{word}", is not in the list of words.{_nearest(word)}')
    if not _list().check(" ".join(words)):
        raise WrongPhrase(
            "All words are in the list, but they do not fit together: one word is wrong, or two words are "
            "in the wrong order. Compare each word with what you wrote down."
        )
    return " ".join(words)


def _nearest(word: str) -> str:
    found = difflib.get_close_matches(word, _list().wordlist, n=1, cutoff=ALIKE)
    return f' Did you mean "{found[0]}"?' if found else " Compare it with what you wrote down."


@cache
def _list() -> Mnemonic:
    return Mnemonic("english")


def create(tx: Transaction, replaces: str | None) -> Phrase:
    """Create a recovery phrase. From now on, backups are sealed to it. Until a user has checked it, they are
    sealed to the previous phrase too.

    `replaces` is the fingerprint of the previous phrase, or None. Raise Problem (409) if another phrase is in use.
    """
    phrase = new_phrase()
    recovery_phrases.add(tx, phrase.recipient, replaces)
    return phrase
