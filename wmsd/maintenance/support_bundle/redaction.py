"""Removes secrets, e-mail addresses and company codes from every text of a support bundle.

The parts of a bundle contain no secrets by design. But users may have written a secret in the wrong place, such as
a password in the URL of a provider. This module removes such secrets. It also removes the token that the first
start of a demo writes to the system journal.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from wmsd.contract.secret_fields import Secret, SecretFile
from wmsd.dispatch import masking
from wmsd.maintenance.doctor.settings_files import marked_values
from wmsd.settings.all_settings import Settings

LEAST_SECRET: Final = 6
"""The minimum length of a secret to remove. Shorter texts occur in many words. Removing them would make the bundle
unreadable.
"""
MOST_READ: Final = 64 * 1024
E_MAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
NO_E_MAIL: Final = "(e-mail)"
WEBHOOK_SECRET: Final = re.compile(r"\bwhsec_[\w+/=-]++")
QUERY: Final = re.compile(r"(/[^\s?\"]{0,500}\?)[^\s\"]++")
"""The query of a URL. It may contain a customer's data or the code of a one-time link."""


class Hiding:
    """Removes secrets and e-mail addresses from texts. The settings contain the known secrets.

    `codes` has the codes of companies by id. In the texts, ids replace these codes. If `codes` is None, codes stay
    in the texts.
    """

    def __init__(self, settings: Settings, codes: Mapping[int, str] | None = None) -> None:
        self._secrets = sorted(set(secrets_of(settings)), key=len, reverse=True)
        self._ids = {code: company_id for company_id, code in (codes or {}).items()}
        alternatives = "|".join(re.escape(code) for code in sorted(self._ids, key=len, reverse=True))
        self._codes = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if self._ids else None

    def text(self, value: str) -> str:
        for secret in self._secrets:
            value = value.replace(secret, masking.MASK)
        value = masking.text(value)
        value = WEBHOOK_SECRET.sub(masking.MASK, value)
        value = QUERY.sub(rf"\1{masking.MASK}", value)
        value = E_MAIL.sub(NO_E_MAIL, value)
        return (
            value
            if self._codes is None
            else self._codes.sub(lambda found: f"company-{self._ids[found[0]]}", value)
        )

    def json(self, value: Any) -> Any:
        """Remove secrets from every text in a JSON value, including keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.json(each) for key, each in value.items()}
        return [self.json(each) for each in value] if isinstance(value, list | tuple) else value


def secrets_of(settings: Settings) -> Iterator[str]:
    """Yield the secrets in the settings, and the content of the files with secrets that the settings name."""
    for _, value in marked_values(settings, Secret):
        found = value if isinstance(value, list) else [value]
        yield from (each for each in found if len(each) >= LEAST_SECRET)
    for _, file in marked_values(settings, SecretFile):
        if file:
            yield from _held(Path(file))


def _held(file: Path) -> Iterator[str]:
    """Yield each line of a file with secrets, to remove its text from the bundle. Leave out short lines: their
    text also occurs elsewhere. Yield nothing if the file cannot be read.
    """
    with suppress(OSError), file.open("rb") as opened:
        text = opened.read(MOST_READ).decode("utf-8", "replace")
        yield from (line for each in text.splitlines() if len(line := each.strip()) >= LEAST_SECRET)
