"""Takes out of every text of a bundle what is secret, who people are, and which companies there are.

The parts of a bundle are made without secrets; this is for what somebody has written where it does not belong,
such as a password in the address of a provider, or a token that a journal has from the first start of a demo.
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
"""A shorter text is in so many words that taking it out would leave nothing to read."""
MOST_READ: Final = 64 * 1024
E_MAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
NO_E_MAIL: Final = "(e-mail)"
WEBHOOK_SECRET: Final = re.compile(r"\bwhsec_[\w+/=-]++")
QUERY: Final = re.compile(r"(/[^\s?\"]{0,500}\?)[^\s\"]++")
"""What is looked for in an address is a customer's, and a one-time link is a way in."""


class Hiding:
    """`codes` are those of the companies by their ids, which take their places; None: they may be shown."""

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
        """Every text in it, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.json(each) for key, each in value.items()}
        return [self.json(each) for each in value] if isinstance(value, list | tuple) else value


def secrets_of(settings: Settings) -> Iterator[str]:
    """What the settings hold that is marked as secret, and what the files hold that they name."""
    for _, value in marked_values(settings, Secret):
        found = value if isinstance(value, list) else [value]
        yield from (each for each in found if len(each) >= LEAST_SECRET)
    for _, file in marked_values(settings, SecretFile):
        if file:
            yield from _held(Path(file))


def _held(file: Path) -> Iterator[str]:
    """Whoever cannot read it can give nothing of it away."""
    with suppress(OSError), file.open("rb") as opened:
        text = opened.read(MOST_READ).decode("utf-8", "replace")
        yield from (line for each in text.splitlines() if len(line := each.strip()) >= LEAST_SECRET)
