"""Code examples in several languages that check the signature of a received delivery.

The examples contain the values of this delivery, such as its secret and its body.
"""

import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.pages.kit.text.code_literals import double_quoted_text, single_quoted_text

LONGEST_LITERAL: Final = 2048
"""The most characters of a body inside a recipe. If the body is longer, the recipe reads it from a file."""
FILE: Final = "body.json"


@dataclass(frozen=True, slots=True)
class Recipe:
    name: str
    """The name of the recipe in the address of the page."""
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Language:
    """A programming language in which recipes are written.

    `quote` returns a text as a string literal of the language. `file` is the code that reads the body from a file.
    `text` is the template of the recipe, with the placeholders {secret}, {id}, {timestamp}, {body} and {given}.
    {given} is the signature that was received.
    """

    name: str
    title: str
    quote: Callable[[str], str]
    file: str
    text: str


LANGUAGES: Final = (
    Language(
        "shell",
        "openssl",
        shlex.quote,
        f'"$(cat {FILE})"',
        """SECRET={secret}
ID={id}
TIMESTAMP={timestamp}
BODY={body}
KEY=$(printf '%s' "${{SECRET#whsec_}}" | base64 -d | od -An -vtx1 | tr -d ' \\n')
printf 'v1,%s\\n' "$(printf '%s.%s.%s' "$ID" "$TIMESTAMP" "$BODY" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)"
# It prints one of the signatures in the header: {given}""",
    ),
    Language(
        "js",
        "JavaScript (Node)",
        double_quoted_text,
        f"require('node:fs').readFileSync('{FILE}', 'utf8')",
        """const crypto = require('node:crypto')
const secret = {secret}
const id = {id}
const timestamp = {timestamp}
const body = {body}
const given = {given}
const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
const signed = `${{id}}.${{timestamp}}.${{body}}`
const expected = 'v1,' + crypto.createHmac('sha256', key).update(signed).digest('base64')
console.log(given.split(' ').includes(expected) ? 'valid' : 'not valid')""",
    ),
    Language(
        "python",
        "Python",
        double_quoted_text,
        f'open("{FILE}", "rb").read().decode()',
        """import base64, hashlib, hmac
secret = {secret}
id = {id}
timestamp = {timestamp}
body = {body}
given = {given}
key = base64.b64decode(secret.removeprefix("whsec_"))
signed = f"{{id}}.{{timestamp}}.{{body}}".encode()
expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
print("valid" if expected in given.split(" ") else "not valid")""",
    ),
    Language(
        "php",
        "PHP",
        single_quoted_text,
        f"file_get_contents('{FILE}')",
        """<?php
$secret = {secret};
$id = {id};
$timestamp = {timestamp};
$body = {body};
$given = {given};
$key = base64_decode(substr($secret, strlen('whsec_')));
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
echo in_array($expected, explode(' ', $given), true) ? 'valid' : 'not valid', "\\n";""",
    ),
)


def of(received: Mapping[str, Any]) -> tuple[Recipe, ...]:
    """Return the recipes for a received delivery. Each checks the signature in one language.

    The last recipe is different: it sends the delivery to the reader's own program.
    """
    checks = (Recipe(each.name, each.title, _filled(each, received)) for each in LANGUAGES)
    return (*checks, Recipe("curl", "curl: send the request to your program", _curl(received)))


def _filled(language: Language, received: Mapping[str, Any]) -> str:
    headers, body = received["headers"], received["body"]
    values = {
        "secret": received["secret"],
        "id": headers["webhook-id"],
        "timestamp": headers["webhook-timestamp"],
        "given": headers["webhook-signature"],
    }
    quoted = {name: language.quote(value) for name, value in values.items()}
    return language.text.format(**quoted, body=language.quote(body) if _is_short(body) else language.file)


def _is_short(body: str) -> bool:
    return len(body) <= LONGEST_LITERAL


def _curl(received: Mapping[str, Any]) -> str:
    body = shlex.quote(received["body"]) if _is_short(received["body"]) else f"@{FILE}"
    headers = (f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in received["headers"].items())
    lines = ["curl -X POST http://127.0.0.1:3000/", *headers, f"  --data-binary {body}"]
    return " \\\n".join(lines)
