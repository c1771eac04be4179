"""The origin of a program is checked before the program runs: by a signature of minisign, or by a checksum that a
person has compared.
"""

import hashlib
import stat
import subprocess
from pathlib import Path
from typing import Final

import minisign
import pytest

from wmsd import __version__
from wmsd.db.engine.failures import StorageError
from wmsd.host.program_file import ProgramFile
from wmsd.maintenance.upgrades import check_release as release
from wmsd.maintenance.upgrades.check_release import check_release, describe_release

SAYS: Final = (
    '#!/bin/sh\necho \'{{"name": "wmsd", "version": "{}", "schemas": {{"platform": 1, "company": 1}}}}\'\n'
)
PAIR: Final = minisign.KeyPair.generate()


class Offer:
    """A program that is offered as an upgrade, in a folder with its signature and the maker's key."""

    def __init__(self, folder: Path, version: str = "99.0.0") -> None:
        self.file = folder / "wmsd-new"
        self.file.write_text(SAYS.format(version))
        self.key = folder / "maker.pub"
        self.key.write_bytes(bytes(PAIR.public_key))
        self.program = ProgramFile(folder / "bin" / "wmsd")
        self.program.path.parent.mkdir()
        self.program.path.write_text("the program of now")
        self.program.path.chmod(0o755)
        self.sign(f"wmsd {version}")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.file.read_bytes()).hexdigest()

    def sign(self, comment: str, pair: minisign.KeyPair = PAIR, content: bytes | None = None) -> None:
        signature = pair.secret_key.sign(content or self.file.read_bytes(), trusted_comment=comment)
        self.file.with_name("wmsd-new.minisig").write_bytes(bytes(signature) + b"\n")

    def unsigned(self) -> None:
        self.file.with_name("wmsd-new.minisig").unlink()

    def checked(self, key: Path | None, sha256: str | None = None) -> str:
        """Check the program, and return the sentence about a good program."""
        taken = self.program.take(self.file)
        return check_release(self.file, self.program.new, taken, key, sha256).sentence

    def described(self) -> str:
        taken = self.program.take(self.file)
        return describe_release(
            self.program, check_release(self.file, self.program.new, taken, self.key, None)
        ).version


@pytest.fixture
def offer(tmp_path: Path) -> Offer:
    return Offer(tmp_path)


def refused(offer: Offer, key: Path | None, sha256: str | None = None) -> str:
    with pytest.raises(StorageError) as found:
        offer.checked(key, sha256)
    assert offer.program.path.read_text() == "the program of now"
    return str(found.value)


def test_a_signed_program_is_taken(offer: Offer) -> None:
    assert offer.checked(offer.key) == "its signature is valid (wmsd 99.0.0)"
    assert offer.described() == "99.0.0"
    assert stat.S_IMODE(offer.program.new.stat().st_mode) == 0o700


def test_debians_minisign_makes_such_signatures(offer: Offer, tmp_path: Path) -> None:
    made = ["minisign", "-G", "-W", "-f", "-p", tmp_path / "debian.pub", "-s", tmp_path / "debian.key"]
    signed = ["minisign", "-S", "-s", tmp_path / "debian.key", "-t", "wmsd 99.0.0", "-m", offer.file]
    for command in (made, signed):
        subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)
    assert offer.checked(tmp_path / "debian.pub") == "its signature is valid (wmsd 99.0.0)"
    verified = ["minisign", "-V", "-p", offer.key, "-m", offer.file]
    offer.sign("wmsd 99.0.0")
    subprocess.run([*map(str, verified)], check=True, stdout=subprocess.DEVNULL)


def test_a_changed_program_is_refused(offer: Offer) -> None:
    with offer.file.open("a") as file:
        file.write("rm -rf /\n")
    assert "is not the signature of" in refused(offer, offer.key)


def test_the_signature_of_another_is_refused(offer: Offer) -> None:
    offer.sign("wmsd 99.0.0", minisign.KeyPair.generate())
    assert "is not the signature of" in refused(offer, offer.key)


def test_a_changed_comment_is_refused(offer: Offer) -> None:
    path = offer.file.with_name("wmsd-new.minisig")
    path.write_text(path.read_text().replace("wmsd 99.0.0", "wmsd 99.0.1"))
    assert "is not the signature of" in refused(offer, offer.key)


@pytest.mark.parametrize("content", [b"", b"\n", b"no signature", b"\xff" * 200, b"untrusted comment: x\n" * 4])
def test_what_is_no_signature_is_refused(offer: Offer, content: bytes) -> None:
    offer.file.with_name("wmsd-new.minisig").write_bytes(content)
    assert "minisig" in refused(offer, offer.key)


def test_a_file_that_was_signed_as_something_else_is_refused(offer: Offer) -> None:
    offer.sign("another program 99.0.0")
    assert "which is not a version of wmsd" in refused(offer, offer.key)


def test_an_older_program_under_a_newer_name_is_refused(offer: Offer) -> None:
    offer.sign("wmsd 100.0.0")
    with pytest.raises(
        StorageError, match=r"reports the version 99\.0\.0, but its signature is for version 100\.0\.0"
    ):
        offer.described()


@pytest.mark.parametrize("version", [__version__, "0.0.1", f"{__version__.partition('-')[0]}-alpha"])
def test_what_is_not_newer_is_no_upgrade(tmp_path: Path, version: str) -> None:
    with pytest.raises(StorageError, match="is not newer"):
        Offer(tmp_path, version).described()


@pytest.mark.parametrize(("older", "newer"), [("1.9.1", "1.10.0"), ("2.0.0-rc1", "2.0.0"), ("1.0.0", "1.0.1-rc1")])
def test_versions_are_compared_by_their_numbers(older: str, newer: str) -> None:
    assert release.version_parts(older) < release.version_parts(newer)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("#!/bin/sh\nexit 3\n", "it ended with exit status 3 and no message"),
        ("#!/bin/sh\necho 'no such library.' >&2\nexit 1\n", "no such library"),
        ("#!/bin/sh\nkill -SEGV $$\n", "it was stopped by the signal 11"),
        ("#!/bin/sh\necho '{}'\n", "it does not report a version of wmsd"),
        ("no program", "exec format error"),
        ("#!/bin/sh\n", "it does not report a version of wmsd"),
    ],
)
def test_what_does_not_run_is_refused(offer: Offer, content: str, why: str) -> None:
    offer.file.write_text(content)
    offer.sign("wmsd 99.0.0")
    with pytest.raises(StorageError) as refused:
        offer.described()
    assert str(refused.value) == (
        f"The new program does not run on this machine, or cannot be used for an upgrade: {why}. Nothing "
        "was changed. Download the program again, for this kind of machine."
    )


def test_a_program_without_a_signature_is_refused(offer: Offer) -> None:
    offer.unsigned()
    assert (
        refused(offer, offer.key)
        == f"{offer.file} is not signed: its signature {offer.file}.minisig is missing. Download the "
        "signature from where wmsd is published, and put it next to the program. Nothing was changed."
    )


def test_no_refusal_offers_what_lets_an_unproven_program_in(offer: Offer) -> None:
    """A user might paste the program's own checksum, which would prove nothing."""
    refusals = [refused(offer, None), refused(offer, None, "0" * 64), refused(offer, offer.key, "0" * 64)]
    offer.unsigned()
    refusals += [refused(offer, None), refused(offer, offer.key)]
    offer.file.with_name("wmsd-new.sha256").write_text(f"{'1' * 64}  wmsd-new\n")
    refusals.append(refused(offer, offer.key))
    for each in refusals:
        assert offer.sha256 not in each
        assert "--sha256" not in each
        assert "Nothing was changed." in each


def test_without_a_key_it_says_where_to_get_one(offer: Offer) -> None:
    said = refused(offer, None)
    assert "Name the file of the published key with --public-key, or check a published SHA-256 instead" in said


def test_a_sum_from_the_maker_is_enough_without_a_key(offer: Offer) -> None:
    assert offer.checked(None, offer.sha256) == "its SHA-256 is the one that you gave"
    offer.unsigned()
    assert offer.checked(None, offer.sha256.upper().lower()) == "its SHA-256 is the one that you gave"


def test_another_sum_is_refused(offer: Offer) -> None:
    assert "is not the published program" in refused(offer, None, "0" * 64)
    offer.file.with_name("wmsd-new.sha256").write_text(f"{'1' * 64}  wmsd-new\n")
    assert "wmsd-new.sha256 (1111" in refused(offer, offer.key)
    offer.file.with_name("wmsd-new.sha256").write_text(f"{offer.sha256}  wmsd-new\n")
    assert offer.checked(offer.key) == "its signature is valid (wmsd 99.0.0)"


def test_what_is_no_key_is_said(offer: Offer) -> None:
    offer.key.write_text("no key\n")
    assert refused(offer, offer.key) == f"{offer.key} is not a public key of minisign: invalid number of lines."
    assert "No such file or directory" in refused(offer, offer.key.with_name("none.pub"))


def test_a_program_that_is_not_there_is_said(offer: Offer) -> None:
    offer.file.unlink()
    assert refused(offer, offer.key) == f"{offer.file} is not a file."


def test_there_is_a_whole_program_at_every_moment(offer: Offer) -> None:
    program = offer.program
    program.take(offer.file)
    program.put_new()
    assert program.path.read_bytes() == offer.file.read_bytes()
    assert program.previous.read_text() == "the program of now"
    assert stat.S_IMODE(program.path.stat().st_mode) == 0o755
    for _ in range(2):  # a second call changes nothing
        program.put_back()
        assert program.path.read_text() == "the program of now"
        assert not program.previous.exists()
