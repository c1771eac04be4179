"""Masks the secrets in stored requests and answers. Everything that may be a secret is masked; masking too much
does no harm.

The stored text is as the client sent it and may be cut off. Therefore bodies are searched as text and not parsed.
`body` and `path` mask values by the names of their fields. Every line also passes through `text`, which masks
everything that looks like a secret. The client chooses the text. Therefore the time of each pattern here must grow
at most in proportion to the length of the text.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args
from urllib.parse import unquote

from wmsd.base.strict_json import dumps
from wmsd.contract.fields import Input, Sealed

Replacement = Callable[[str], str]
"""A function that takes the JSON text of a value and returns its replacement. The JSON text may be cut off."""
MASK: Final = "***"
WORDS: Final = (
    *("secret", "passw", "passphrase", "passcode", "pwd", "token", "credential", "cookie", "authorization"),
    *("authorisation", "apikey", "accesskey", "privatekey", "signature"),
)
"""A field holds a secret if its name contains one of these words. It also holds a secret if the name ends with a
text in ENDS, or is in NAMES. Only the letters and digits of a name are compared. The word "key" is not in this
list, because it often names a record: `external_key`, `sort_key`.
"""
ENDS: Final = (
    *("auth", "bearer", "pass", "pin", "authkey", "encryptionkey", "hmackey", "licensekey", "masterkey"),
    *("sharedkey", "signingkey", "sshkey", "webhookkey"),
)
NAMES: Final = ("key",)
ADDRESSES: Final = ("url", "uri")
"""If the name of a field ends with one of these, its value is a web address. wmsd stores such a value only up to
the host, because the path may be a secret.
"""
IN_TEXT: Final = (
    ("@", re.compile(r"(:(?:\\*+/){2})[^/@\s\"\\]*+@"), rf"\1{MASK}@"),  # user name and password in a web address
    ("bearer", re.compile(r"\b(bearer)\s++[\w.~+/=-]++", re.IGNORECASE), rf"\1 {MASK}"),
    ("basic", re.compile(r"\b(basic)\s++[\w.~+/=-]++", re.IGNORECASE), rf"\1 {MASK}"),
    ("eyj", re.compile(r"\beyJ[\w.-]*+"), MASK),  # a token such as wmsd's
)
"""Patterns of secrets in any text. Each entry has three parts: a word that must be in the text, the pattern, and
the replacement.
"""
ADDRESS: Final = re.compile(
    r"(?P<scheme>(?:[a-z][a-z0-9+-]*+:[/\\]{2})?+)(?P<place>[^/\\?#]*+)(?P<rest>.*+)", re.I | re.S
)
HOST: Final = re.compile(r"[\w.-]*+(?::\d*+)?|\[[\da-f:.%]*+\](?::\d*+)?", re.I)
ADDRESS_TEXT: Final = re.compile(r'"https?+:(?:\\?+/){2}(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.I | re.S)
"""A JSON string that is a web address. It may be cut off."""
NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
NEITHER: Final = re.compile(r'[^a-z0-9"]+')
"""All characters except letters, digits and quotation marks."""
PARAMETER: Final = re.compile(r"([?&][\w.-]{1,100}+=)[^&\s\"\\#]*+")
JSON_TEXT: Final = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"(\s*+:\s*+)?)?', re.DOTALL)
"""A JSON string, which may be cut off. If the string is the key of a field, also the colon after it."""
JSON_PART: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?\\?|[{}\[\]]', re.DOTALL)
JSON_VALUE: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?\\?|[^\s,}\]]*+', re.DOTALL)
GRAPHQL_TEXT: Final = re.compile(
    r'#[^\r\n]*+|"""(?:\\"""|(?!""").)*+(?:"""|\Z)|"(?:\\.|[^"\\\r\n])*+["\\]?', re.DOTALL
)
"""A comment or a string in a GraphQL document. The string may be cut off."""
GRAPHQL_VALUE: Final = re.compile(
    r"(\bfound:? |\bcannot represent [^:]{0,200}: |\bUnexpected \w{1,40}+:? ).*+", re.DOTALL
)
"""The parts of graphql-core's error messages that may quote values of the request."""
GRAPHQL_NAME: Final = re.compile(r"\b(\w++)[\s,]*+:")
LENIENT: Final = json.JSONDecoder(strict=False)
"""A decoder that accepts control characters in strings."""
QUOTED: Final = tuple(f'{name}"' for name in (*ENDS, *NAMES, *ADDRESSES))
DOCUMENT: Final = "query"
VARIABLES: Final = "variables"


def text(value: str) -> str:
    """Mask everything in the text that looks like a secret, and return the text."""
    lower = value.lower()
    for needed, pattern, replacement in IN_TEXT:
        if needed in lower:
            value = pattern.sub(replacement, value)
    return PARAMETER.sub(_parameter, value) if "=" in lower else value


def _parameter(found: re.Match[str]) -> str:
    """Return the parameter of a web address, with its value masked if it is a secret. Some addresses separate
    parameters with semicolons, so the match may contain several parameters.
    """
    is_secret = any(_is_secret(unquote(each.partition("=")[0])) for each in found[0][1:].split(";"))
    return f"{found[1]}{MASK}" if is_secret else found[0]


def path(raw: str, is_graphql: bool) -> str:
    """Mask the secrets in a path with its query. The whole query is masked if it holds a GraphQL document."""
    before, mark, query = raw.partition("?")
    if not mark:
        return raw
    return f"{before}?{MASK if is_graphql else '&'.join(map(_query_parameter, query.split('&')))}"


def _query_parameter(sent: str) -> str:
    name, equals, _ = sent.partition("=")
    return f"{name}={MASK}" if equals and _is_meant(unquote(name)) else sent


def body(sent: str, is_graphql: bool) -> str:
    """Mask the secrets in a JSON text, which may be cut off. If `is_graphql`, mask all strings in its GraphQL
    document.
    """
    if not is_graphql:
        return _masked(sent) if _may_have_secrets(sent) else sent
    shown = _replaced(sent, {DOCUMENT: _without_texts}.get)
    return _masked(shown, {VARIABLES: _mask} if _uses_secrets(shown) else {})


def _masked(sent: str, more: Mapping[str, Replacement] = {}) -> str:
    return _replaced(sent, lambda key: more.get(key) or _replacement(key))


def _replacement(name: str) -> Replacement | None:
    """Return the function that masks the value of a field with this name, or None if it needs no mask."""
    return _mask if _is_secret(name) else _address if _is_address(name) else None


def answer(beginning: str) -> str:
    """Mask the secrets in the first part of an answer. Only web addresses can contain secrets there."""
    return _replaced(beginning, {"url": _address_only}.get) if '"url"' in beginning else beginning


def _address_only(value: str) -> str:
    """Mask the value of the field `url` if it is a web address. In an answer with errors, the value is an error
    message, which stays unchanged.
    """
    return _address(value) if value.startswith('"http') else value


def _may_have_secrets(sent: str) -> bool:
    """Return True if the text may have a field with a secret. This check is quick. For most bodies, it makes the
    slow search unnecessary.
    """
    if "\\u" in sent or any(name in sent for name in sealed_fields()):
        return True
    plain = NEITHER.sub("", sent.lower())
    return any(word in plain for word in WORDS) or any(end in plain for end in QUOTED)


def _replaced(sent: str, replacement_of: Callable[[str], Replacement | None]) -> str:
    """Return the JSON text with replaced values. `replacement_of` takes the name of a field, and returns the
    function that replaces its value, or None if the value stays.
    """
    shown: list[str] = []
    end = 0
    for found in JSON_TEXT.finditer(sent):
        if found.start() < end or not found[2]:
            continue
        name = _read(f'"{found[1]}"') if "\\" in found[1] else found[1]
        if replacement := replacement_of(name):
            value_end = _end_of_value(sent, found.end())
            shown += sent[end : found.end()], replacement(sent[found.end() : value_end])
            end = value_end
    return "".join((*shown, sent[end:]))


def _end_of_value(sent: str, start: int) -> int:
    if sent[start : start + 1] not in ("{", "["):
        found = JSON_VALUE.match(sent, start)
        return start if found is None else found.end()
    depth = 0
    for part in JSON_PART.finditer(sent, start):
        depth += (part[0] in ("{", "[")) - (part[0] in ("}", "]"))
        if not depth:
            return part.end()
    return len(sent)


def _mask(value: str) -> str:
    return value if value in ("null", "true", "false") else f'"{MASK}"'


def _address(value: str) -> str:
    return dumps(address(_read(value))) if value.startswith('"') else _mask(value)


def address(sent: str) -> str:
    """Remove the user name and the password from a web address, and mask the part after the host.

    Return MASK if there is an @ after the host: the text before this @ may be a password, and the real host may
    come after it.
    """
    found = ADDRESS.match(sent)
    if found is None or "@" in found["rest"]:
        return MASK
    host = found["place"].rpartition("@")[2]
    shown = host if HOST.fullmatch(host) else MASK
    return f"{found['scheme']}{shown}{found['rest'] if found['rest'] in ('', '/') else f'/{MASK}'}"


def _read(token: str) -> str:
    """Return the text of a JSON string, which may be cut off."""
    for cut in range(8):  # an escape sequence has at most six characters, and it may be cut off
        whole = token if cut == 0 else f'{token[: len(token) - cut + 1]}"'
        try:
            return str(LENIENT.decode(whole))
        except ValueError:
            continue
    return MASK


def _without_texts(value: str) -> str:
    return dumps(document(_read(value))) if value.startswith('"') else _mask(value)


def document(query: str) -> str:
    """Return a GraphQL document without comments and with all strings masked."""
    return GRAPHQL_TEXT.sub(lambda found: "" if found[0].startswith("#") else f'"{MASK}"', query)


def _uses_secrets(sent: str) -> bool:
    """Return True if all variables of the GraphQL request `sent` must be masked.

    They must be masked if its document uses a field that holds secrets. They must also be masked if `sent` is cut
    off, because the document cannot be read.
    """
    try:
        query = json.loads(sent)[DOCUMENT]
        return any(map(_is_meant, GRAPHQL_NAME.findall(query)))
    except (ValueError, KeyError, TypeError):
        return True


def message(sentence: str) -> str:
    """Return an error message of graphql-core. Values that the message quotes from the GraphQL document are
    masked.
    """
    before, value, rest = sentence.partition("Value ")
    if "does not exist" in rest:
        sentence = f"{before}{value}{MASK} does not exist{rest.rpartition('does not exist')[2]}"
    return document(GRAPHQL_VALUE.sub(rf"\1{MASK}.", sentence))


def graphql_answer(beginning: str) -> str:
    """Return the start of a GraphQL response. Its error messages may quote values from the GraphQL document; these
    values are masked.
    """
    shown = _replaced(beginning, {"message": _message}.get) if '"message"' in beginning else beginning
    return ADDRESS_TEXT.sub(lambda found: _address(found[0]), shown)  # a GraphQL field may have any name


def _message(value: str) -> str:
    return dumps(message(_read(value))) if value.startswith('"') else value


def _is_meant(name: str) -> bool:
    return _replacement(name) is not None


def _is_secret(name: str) -> bool:
    plain = NO_LETTERS.sub("", name.lower())
    return (
        name in sealed_fields() or plain in NAMES or plain.endswith(ENDS) or any(word in plain for word in WORDS)
    )


def _is_address(name: str) -> bool:
    return NO_LETTERS.sub("", name.lower()).endswith(ADDRESSES)


@cache
def sealed_fields() -> frozenset[str]:
    """Return the names of all body fields that hold credentials."""
    return frozenset(
        name for model in _models(Input) for name, field in model.model_fields.items() if is_sealed(model, name)
    )


def _models(model: type[Input]) -> Iterator[type[Input]]:
    for each in model.__subclasses__():
        yield each
        yield from _models(each)


def is_sealed(model: type[Input], name: str) -> bool:
    """Return True if the field holds a credential."""
    field = model.model_fields[name]
    return Sealed in field.metadata or _is_sealed(field.annotation)


def _is_sealed(annotation: Any) -> bool:
    return Sealed in getattr(annotation, "__metadata__", ()) or any(map(_is_sealed, get_args(annotation)))
