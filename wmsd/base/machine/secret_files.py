"""Files in which an admin has stored one secret each. The settings contain the paths of these files.

The functions raise OSError if a file cannot be read. They raise ValueError, with a sentence that names the file,
if its content is not valid. No sentence reveals any part of the secret.
"""

import base64
import binascii
from pathlib import Path
from typing import Final

from wmsd.base.machine.regular_files import check_regular

MOST_READ: Final = 4096
LEAST_TOKEN: Final = 20
"""The least number of characters of a token, so that nobody guesses it."""
LEAST_SECRET: Final = 16
BASE64_PREFIX: Final = "whsec_"
NOT_ONE_WORD: Final = "The file {file} must contain one secret of at least {least} characters, without spaces."
TOO_LONG: Final = "The file {file} has more than {most} bytes, but must contain only one secret, without spaces."
NO_CLIENT_SECRET: Final = "The file {file} must contain the secret of the client, as UTF-8 text."
NO_BASE64: Final = (
    "The secret in {file} begins with whsec_, but the rest is not base64. Copy the whole secret again."
)
NO_PASSWORD: Final = "The file {file} must contain the password of the mail relay in the first line."
PASSWORD_TOO_LONG: Final = "The file {file} has more than {most} bytes, but must contain only one password."


def standard_key(secret: str) -> bytes:
    """Return the key of the header `webhook-signature`. If the secret begins with `whsec_`, the key is the decoded
    base64 after this prefix. Any other secret is itself the key.

    Base64 may lack its padding, because receivers' libraries accept that. Raise ValueError for invalid base64.
    """
    if not secret.startswith(BASE64_PREFIX):
        return secret.encode()
    encoded = secret.removeprefix(BASE64_PREFIX)
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        raise ValueError(
            f"begins with {BASE64_PREFIX}, but the rest is not base64: enter the whole secret again"
        ) from None


def read_scrape_token(file: Path) -> str:
    """Return the token that readers of the metrics send (metrics.token_file)."""
    return _read_word(file, LEAST_TOKEN)


def read_signing_secret(file: Path) -> str:
    """Return the secret that signs alerts (alerts.secret_file)."""
    secret = _read_word(file, LEAST_SECRET)
    try:
        standard_key(secret)
    except ValueError:
        raise ValueError(NO_BASE64.format(file=file)) from None
    return secret


def read_client_secret(file: Path) -> str:
    """Return the secret with which wmsd identifies itself to a sign-on provider (client_secret_file)."""
    check_regular(file)
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        secret = ""
    if not secret:
        raise ValueError(NO_CLIENT_SECRET.format(file=file))
    return secret


def read_mail_password(file: Path) -> str:
    """Return the password of the mail relay (alerts.mail_password_file): the first line, spaces included."""
    read = _read_bytes(file)
    if len(read) > MOST_READ:
        raise ValueError(PASSWORD_TOO_LONG.format(file=file, most=MOST_READ))
    try:
        line = read.decode().partition("\n")[0].rstrip("\r")
    except UnicodeDecodeError:
        line = ""
    if not line or "\0" in line:
        raise ValueError(NO_PASSWORD.format(file=file))
    return line


def _read_word(file: Path, least: int) -> str:
    """Return the one word in the file. The word must have at least `least` ASCII characters."""
    read = _read_bytes(file)
    if len(read) > MOST_READ:
        raise ValueError(TOO_LONG.format(file=file, most=MOST_READ))
    word = read.decode("ascii", "replace").strip()
    if len(word) < least or not word.isascii() or not word.isprintable() or " " in word:
        raise ValueError(NOT_ONE_WORD.format(file=file, least=least))
    return word


def _read_bytes(file: Path) -> bytes:
    """Return the content of the file. Read one byte more than the maximum, so that the caller recognises a file
    that is too long.
    """
    check_regular(file)
    with file.open("rb") as opened:
        return opened.read(MOST_READ + 1)
