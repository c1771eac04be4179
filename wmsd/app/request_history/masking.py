"""Takes the secrets out of what is kept of a request. Whatever may be one is masked: a text too many is no harm.

Bodies are read as texts, not parsed: what is kept is as it was sent, and may end anywhere. `body` and `path` mask
by names; `text`, which every line passes through at the end, by what secrets look like.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, get_args
from urllib.parse import unquote

from wmsd.base.fields import Input, Sealed

MASK: Final = "***"
WORDS: Final = (
    *("secret", "passw", "passphrase", "pwd", "token", "credential", "cookie", "authorization", "authorisation"),
    *("apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "privatekey", "private_key"),
    *("private-key", "signature"),
)
"""A name that has one of them names a secret; so does one that ends with ENDS."""
ENDS: Final = ("auth", "bearer")
ANY_WORD: Final = "|".join((*WORDS, *ENDS))
IN_TEXT: Final = (
    ("@", re.compile(r"(:(?:\\*/){2})[^/@\s\"\\]*@"), rf"\1{MASK}@"),  # user and password in an address
    ("=", re.compile(rf"([?&;][\w.-]*(?:{ANY_WORD})[\w.-]*=)[^&\s\"\\#]*", re.IGNORECASE), rf"\1{MASK}"),
    ("bearer", re.compile(r"\b(bearer)\s+[\w.~+/=-]+", re.IGNORECASE), rf"\1 {MASK}"),
    ("basic", re.compile(r"\b(basic)\s+[\w.~+/=-]+", re.IGNORECASE), rf"\1 {MASK}"),
    ("eyj", re.compile(r"\beyJ[\w-]*(\.[\w-]*)*"), MASK),  # a token such as ours
)
"""What looks like a secret in any text: what must be in it, the pattern, and what takes its place."""
JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]+|\s+', re.DOTALL)
GRAPHQL_TEXT: Final = re.compile(
    r'#[^\r\n]*|"""(?:\\"""|.)*?(?:"""|\Z)|"(?:\\.|[^"\\\r\n])*(?:"|\\?$)', re.DOTALL | re.MULTILINE
)
"""Comments and texts in a document."""
GRAPHQL_VALUE: Final = (
    (re.compile(r"(found:? |cannot represent [^:]*: |Unexpected \w+:? ).*", re.DOTALL), rf"\1{MASK}."),
    (re.compile(r"Value .* does not exist", re.DOTALL), f"Value {MASK} does not exist"),
)
"""Where graphql-core's sentences repeat what was sent."""
GRAPHQL_NAME: Final = re.compile(r"(\w+)[\s,]*:")
DOCUMENT: Final = "query"
VARIABLES: Final = "variables"


def text(value: str) -> str:
    """A text without what looks like a secret in it."""
    lower = value.lower()
    for needed, pattern, replacement in IN_TEXT:
        if needed in lower:
            value = pattern.sub(replacement, value)
    return value


def path(raw: str, is_graphql: bool) -> str:
    """A path with its query; not the query that holds a GraphQL document."""
    before, mark, query = raw.partition("?")
    if not mark:
        return raw
    return f"{before}?{MASK if is_graphql else '&'.join(map(_parameter, query.split('&')))}"


def _parameter(sent: str) -> str:
    name, equals, _ = sent.partition("=")
    return f"{name}={MASK}" if equals and _is_secret(unquote(name)) else sent


def body(sent: str, is_graphql: bool) -> str:
    """The beginning of a JSON text. `is_graphql`: it carries a document, whose texts are masked."""
    if not is_graphql and not _may_have_secrets(sent):
        return sent
    hides_variables = is_graphql and _uses_secrets(sent)

    def is_hidden(key: str) -> bool:
        return _is_secret(key) or (hides_variables and key == VARIABLES)

    shown: list[str] = []
    for key, token in _values(sent, is_hidden):
        if is_graphql and key == DOCUMENT and token.startswith('"'):
            shown.append(json.dumps(document(_read(token)), ensure_ascii=False))
        elif key is not None and is_hidden(key):
            shown.append(token if token in ("null", "true", "false") else f'"{MASK}"')
        else:
            shown.append(token)
    return "".join(shown)


def _may_have_secrets(sent: str) -> bool:
    """Whether a name in it may be that of a secret. Most bodies have none, and need not be read."""
    lower = sent.lower()
    return "\\u" in sent or any(word in lower for word in (*WORDS, *ENDS, *sealed_fields()))


def _values(sent: str, is_hidden: Callable[[str], bool]) -> Iterator[tuple[str | None, str]]:
    """The text in pieces, each with the key whose value it is. The whole value of a hidden key is one piece."""
    tokens = JSON_TOKEN.finditer(sent)
    in_object: list[bool] = []
    key: str | None = None
    is_key = False
    for found in tokens:
        token = found[0]
        if token in ("{", "["):
            if key is not None and is_hidden(key):
                end = _skip(tokens)
                yield key, sent[found.start() : end]
                key = None
                continue
            in_object.append(token == "{")
            key, is_key = None, token == "{"
        elif token in ("}", "]"):
            if in_object:
                in_object.pop()
        elif token == ",":
            is_key = bool(in_object) and in_object[-1]
        elif token.startswith('"') and is_key:
            key, is_key = _read(token), False
            yield None, token
            continue
        elif token != ":" and not token.isspace():
            yield key, token
            key = None
            continue
        yield None, token


def _skip(tokens: Iterator[re.Match[str]]) -> int:
    """Goes on to the end of the object or array that has begun. Returns its end."""
    depth, end = 1, 0
    for found in tokens:
        depth += (found[0] in ("{", "[")) - (found[0] in ("}", "]"))
        end = found.end()
        if not depth:
            break
    return end


def _read(token: str) -> str:
    """The text of a JSON string, which may be cut off."""
    for cut in range(7):  # an escape that is cut off has at most six characters
        whole = token[: len(token) - cut]
        try:
            return str(json.loads(whole if cut == 0 else f'{whole}"'))
        except ValueError:
            continue
    return MASK


def document(query: str) -> str:
    """A GraphQL document without its texts and comments."""
    return GRAPHQL_TEXT.sub(lambda found: "" if found[0].startswith("#") else f'"{MASK}"', query)


def message(sentence: str) -> str:
    """A sentence about a GraphQL document, without the values that it repeats."""
    for pattern, replacement in GRAPHQL_VALUE:
        sentence = pattern.sub(replacement, sentence)
    return document(sentence)


def graphql_answer(beginning: str) -> str:
    """The beginning of a GraphQL response, without what its errors repeat of the document."""
    return "".join(
        json.dumps(message(_read(token)), ensure_ascii=False)
        if key == "message" and token.startswith('"')
        else token
        for key, token in _values(beginning, lambda _: False)
    )


def _uses_secrets(sent: str) -> bool:
    """Whether variables of the document may stand for secrets, whatever they are called. So may those of one that
    is cut off.
    """
    for key, token in _values(sent, _is_secret):
        if key == DOCUMENT and token.startswith('"'):
            is_whole = len(token) > 1 and token.endswith('"') and sent.rstrip().endswith("}")
            return not is_whole or any(map(_is_secret, GRAPHQL_NAME.findall(document(_read(token)))))
    return True


def _is_secret(name: str) -> bool:
    lower = name.lower()
    return name in sealed_fields() or lower.endswith(ENDS) or any(word in lower for word in WORDS)


@cache
def sealed_fields() -> frozenset[str]:
    """The fields of all bodies that hold credentials."""
    return frozenset(
        name
        for model in _models(Input)
        for name, field in model.model_fields.items()
        if Sealed in field.metadata or _is_sealed(field.annotation)
    )


def _models(model: type[Input]) -> Iterator[type[Input]]:
    for each in model.__subclasses__():
        yield each
        yield from _models(each)


def _is_sealed(annotation: Any) -> bool:
    return Sealed in getattr(annotation, "__metadata__", ()) or any(map(_is_sealed, get_args(annotation)))
