"""The check of a program before its installation: its origin and its version.

The signature is a minisign signature (https://jedisct1.github.io/minisign), in a file with the program's name and
the suffix `.minisig`. Its trusted comment begins with `wmsd` and the version. So nobody can present a signed
program as another version.
"""

import json
import os
import subprocess
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, NamedTuple

import minisign
from pydantic import ValidationError

from wmsd import __version__
from wmsd.base.machine.json_file import StoredModel
from wmsd.base.machine.regular_files import reason_of
from wmsd.db.engine.failures import StorageError
from wmsd.host.program_file import ProgramFile

BUILT_IN_KEY: Final = files("wmsd") / "release.pub"
"""The public key of the builder of this program. The file is missing if the program was built without a key."""
SIGNATURE: Final = ".minisig"
CHECKSUM: Final = ".sha256"
LARGEST_TEXT_BYTES: Final = 10_000
ANSWER_SECONDS: Final = 60.0


class Schemas(StoredModel):
    platform: int
    company: int


class Described(StoredModel):
    """The output of `wmsd version --json`."""

    name: str
    version: str
    schemas: Schemas


class Proof(NamedTuple):
    """The result of the check. `signed_for` is the version in the signature, or None if only the checksum was
    compared.
    """

    sentence: str
    signed_for: str | None = None


def check_release(
    source: Path, taken: Path, sha256: str, key_file: Path | None, expected_sha256: str | None
) -> Proof:
    """Check the program `taken`, a copy of `source`, against its signature and checksums.

    `sha256` is the actual checksum of the program. `expected_sha256` is the checksum that the publisher states.
    Error messages do not contain the actual checksum: a user could copy it from the message and state it as the
    expected one. Raise StorageError if the program is not accepted.
    """
    _check_sum(source, sha256, expected_sha256)
    key = _public_key(key_file)
    signature = _beside(source, SIGNATURE)
    if expected_sha256 is not None and (key is None or signature is None):
        return Proof("its SHA-256 is the one that you gave")
    if key is None:
        raise StorageError(
            f"The publisher of {source} cannot be checked, because this wmsd was built without a public key. "
            "Nothing was changed. Name the file of the published key with --public-key, or check a published "
            "SHA-256 instead (see --help)."
        )
    if signature is None:
        raise StorageError(
            f"{source} is not signed: its signature {source}{SIGNATURE} is missing. Download the signature "
            "from where wmsd is published, and put it next to the program. Nothing was changed."
        )
    return Proof(*_verified(source, taken, key, signature))


def _check_sum(source: Path, sha256: str, expected: str | None) -> None:
    written = _beside(source, CHECKSUM)
    said = {
        "the SHA-256 that you gave": expected,
        f"the SHA-256 in {source}{CHECKSUM}": (
            None if written is None else written.decode(errors="replace").split(maxsplit=1)[0]
        ),
    }
    for name, text in said.items():
        if text is not None and text.strip().lower() != sha256:
            raise StorageError(
                f"{source} is not the published program: its SHA-256 differs from {name} "
                f"({text.strip()[:80]}). Nothing was changed. Download the program again."
            )


def _public_key(named: Path | None) -> minisign.PublicKey | None:
    path = named or BUILT_IN_KEY
    if named is None and not path.is_file():
        return None
    try:
        return minisign.PublicKey.from_bytes(_text(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StorageError(f"{path} is not a public key of minisign: {reason}.") from None


def _beside(source: Path, suffix: str) -> bytes | None:
    """Return the content of the file next to `source` with this suffix, or None if there is no such file. Raise
    StorageError if the file is empty or cannot be read.
    """
    path = source.with_name(source.name + suffix)
    try:
        found = _text(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {reason_of(error)}.") from None
    if not found.strip():
        raise StorageError(f"{path} is empty.")
    return found


def _text(path: Traversable) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_TEXT_BYTES)


def _verified(source: Path, taken: Path, key: minisign.PublicKey, text: bytes) -> tuple[str, str]:
    """Verify the signature. Return a sentence about it, and the version that was signed."""
    try:
        signature = minisign.Signature.from_bytes(text)
        key.verify_file(taken, signature)
    except ValueError as error:
        raise StorageError(
            f"{source}{SIGNATURE} is not the signature of {source}, or was created with another key: {error}. "
            "Nothing was changed. Download both files again from where wmsd is published."
        ) from None
    comment = signature.trusted_comment
    match comment.split():
        case ["wmsd", version, *_]:
            return f"its signature is valid ({comment})", version
    raise StorageError(
        f"{source} was signed as {comment!r}, which is not a version of wmsd. Nothing was changed. Download "
        "wmsd and its signature again."
    )


def describe_release(program: ProgramFile, proof: Proof) -> Described:
    """Ask the new program to describe itself, and return its answer.

    Raise StorageError if the new program does not run, or if its version is not the signed one. Also raise
    StorageError if it is not newer than this program.
    """
    found = _asked(program.new)
    if proof.signed_for not in (None, found.version):
        raise StorageError(
            f"The program reports the version {found.version}, but its signature is for version "
            f"{proof.signed_for}. Nothing was changed. Download the program and its signature again."
        )
    if version_parts(found.version) <= version_parts(__version__):
        raise StorageError(
            f"This is wmsd {__version__}, and the program {found.version} is not newer. Nothing was changed."
        )
    return found


def _asked(program: Path) -> Described:
    environment = {**os.environ, "PYINSTALLER_RESET_ENVIRONMENT": "1"}
    try:
        done = subprocess.run(  # noqa: S603  (the program was checked before)
            [program, "version", "--json"],
            capture_output=True,
            timeout=ANSWER_SECONDS,
            env=environment,
            check=True,
        )
        return Described.model_validate(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, ValidationError) as error:
        raise StorageError(
            f"The new program does not run on this machine, or cannot be used for an upgrade: {_why(error)}. "
            "Nothing was changed. Download the program again, for this kind of machine."
        ) from None


def _why(error: Exception) -> str:
    said = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
    match error:
        case subprocess.CalledProcessError(returncode=code) if code < 0:
            return f"it was stopped by the signal {-code}"
        case subprocess.CalledProcessError(returncode=code):
            return said[-1].rstrip(".") if said else f"it ended with exit status {code} and no message"
        case subprocess.TimeoutExpired():
            return f"it did not answer within {ANSWER_SECONDS:.0f} s"
        case OSError():
            return reason_of(error)
    return "it does not report a version of wmsd"


def version_parts(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Return a key to compare versions: 1.10.0 comes after 1.9.1, and 1.0.0-rc1 before 1.0.0 (https://semver.org,
    section 11).
    """
    numbers, _, rest = version.partition("+")[0].partition("-")
    return tuple(int(part) if part.isdecimal() else 0 for part in numbers.split(".")), not rest, rest
