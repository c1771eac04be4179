"""Recovery phrases: which phrases are valid, the error for a mistyped phrase, and that `age` accepts the keys of a
phrase.
"""

import hashlib
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import program as debian
from wmsd.base import bech32
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.encryption import check_form, open_secrets, seal_secrets
from wmsd.maintenance.backups.manifest import Manifest, SealedTo
from wmsd.maintenance.keys.passphrases import NotOpened
from wmsd.maintenance.keys.recovery_phrase import (
    Phrase,
    WrongPhrase,
    new_phrase,
    opened_with,
    phrase_in,
    sealed_to,
)

KNOWN = f"{'abandon ' * 11}about"
"""The first phrase of the test vectors of BIP-39."""
RECIPIENT = "age14kwpxuqp3rjpp4medr4a6zqckpfdmn70ftxaq9lrr28dh36rypvq8v6ues"
"""The recipient that belongs to the phrase. It must never change: old archives are sealed to such recipients."""
SECRETS = {"keys": ["secret"]}


def refusal(text: str) -> str:
    with pytest.raises(WrongPhrase) as refused:
        Phrase(text)
    return str(refused.value)


def manifest(*phrases: SealedTo) -> Manifest:
    return Manifest(
        wmsd="1", installation="i", began_at="", seconds=0, keys="encrypted", files=[], phrases=list(phrases)
    )


def test_the_same_words_always_give_the_same_key() -> None:
    assert (Phrase(KNOWN).recipient, Phrase(KNOWN).fingerprint) == (RECIPIENT, "9209-6917")


def test_words_are_read_as_people_write_them() -> None:
    numbered = " ".join(f"{number}. {word}" for number, word in enumerate(KNOWN.upper().split(), 1))
    for text in (numbered, f"  {KNOWN}\n".replace(" ", "\n")):
        assert Phrase(text).recipient == RECIPIENT


def test_each_new_phrase_is_another_one() -> None:
    phrases = [new_phrase() for _ in range(20)]
    assert len({each.words for each in phrases}) == 20
    assert {len(each.words.split()) for each in phrases} == {12}
    assert all(Phrase(each.words).recipient == each.recipient for each in phrases)
    assert phrases[0].words not in repr(phrases[0])


def test_a_mistyped_word_is_named_with_the_nearest_one() -> None:
    assert refusal(KNOWN.replace("about", "abuot")) == (
        'Word 12, "abuot", is not in the list of words. Did you mean "about"?'
    )
    assert refusal(KNOWN.replace("about", "qqqqqqqq")) == (
        'Word 12, "qqqqqqqq", is not in the list of words. Compare it with what you wrote down.'
    )


def test_another_word_of_the_list_and_a_missing_one_are_told() -> None:
    assert "they do not fit together" in refusal(f"{'abandon ' * 11}above")
    assert refusal("abandon about") == "A recovery phrase has 12 words, but this text has 2. Type all words."


def test_a_passphrase_of_ones_own_is_none() -> None:
    assert phrase_in("correct horse battery staple") is None
    assert phrase_in(KNOWN) is not None


def test_secrets_are_sealed_to_each_phrase_and_opened_by_one() -> None:
    first, second, other = new_phrase(), new_phrase(), new_phrase()
    content = sealed_to(SECRETS, [first.recipient, second.recipient])
    assert opened_with(content, first) == opened_with(content, second) == SECRETS
    with pytest.raises(NotOpened, match="are not encrypted with the recovery phrase"):
        opened_with(content, other)


def test_the_phrase_of_another_installation_is_told_by_its_fingerprint() -> None:
    own, other = new_phrase(), new_phrase()
    told = SealedTo(fingerprint=own.fingerprint)
    with pytest.raises(NotOpened, match=f"phrase {own.fingerprint}, but you typed .* {other.fingerprint}"):
        open_secrets(sealed_to(SECRETS, [own.recipient]), manifest(told), other.words)


def test_a_text_is_taken_for_what_it_is() -> None:
    by_words, by_passphrase = seal_secrets(SECRETS, KNOWN, []), seal_secrets(SECRETS, "correct horse battery", [])
    assert by_words is not None
    assert by_passphrase is not None
    assert [each.fingerprint for each in by_words.phrases] == ["9209-6917"]
    assert by_passphrase.phrases == []
    assert open_secrets(by_words.content, manifest(*by_words.phrases), KNOWN) == SECRETS
    assert open_secrets(by_passphrase.content, manifest(), "correct horse battery") == SECRETS
    assert seal_secrets(SECRETS, None, []) is None


def test_what_is_no_file_of_age_is_damaged() -> None:
    check_form(sealed_to(SECRETS, [RECIPIENT]))
    with pytest.raises(StorageError, match="is damaged"):
        check_form(b"something else")


def test_age_opens_it_without_wmsd(tmp_path: Path) -> None:
    """As the guide says, the key is the first 32 bytes of the seed, which any program for BIP-39 computes."""
    seed = hashlib.pbkdf2_hmac("sha512", KNOWN.encode(), b"mnemonicwmsd backup", 2048)
    identity, content = tmp_path / "identity", tmp_path / "keys.json.age"
    identity.write_text(bech32.encoded("age-secret-key-", seed[:32]).upper())
    content.write_bytes(sealed_to(SECRETS, [RECIPIENT]))
    done = subprocess.run(
        [debian("age"), "--decrypt", "--identity", identity, content], capture_output=True, text=True, check=True
    )
    assert '"secret"' in done.stdout
