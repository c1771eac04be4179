"""Every sentence with which an operation can refuse, read from the source code.

Values are written `{}`. Names are resolved: constants of wmsd, assignments of the function, and what functions of
wmsd return.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PLACE: Final = "{}"
LEFT_OUT: Final = {
    "wmsd/interfaces": "speaks to programs or at a terminal; what pages say themselves stands in their templates",
    "wmsd/docs": "is the guide",
    "wmsd/base/dataclass.py": "speaks of a mistake of the program",
    "wmsd/dispatch/batch.py": "a batch is sent by programs",
    "wmsd/settings": "is said at the start, at a terminal",
    "wmsd/maintenance/upgrades": "is said at a terminal",
    "wmsd/maintenance/backups": "is said at a terminal",
    "wmsd/maintenance/replica": "is said at a terminal",
    "wmsd/maintenance/support_bundle": "is written into the support bundle",
    "wmsd/host/tls": "is said at the start, at a terminal",
    "wmsd/db": "is said at a terminal, or in the log",
}
MESSAGE_AT: Final = {
    "Problem": 1, "validation_error": 0, "refuse": 0, "forbidden": 0,
    "unavailable": 0, "unauthorized": 0, "conflict": 0,
    "FieldError": 2, "invalid_field": 1, "ValueError": 0,
}  # fmt: skip
"""The index of the argument of a call that is a sentence, by the name of the called function."""
MAPPINGS: Final = frozenset({"invalid", "refuse"})
"""Calls that take sentences by field."""
GATHERING: Final = re.compile(r"errors?$|problems?$|sentences$|faults?$|found$|wrong$")
"""Names of variables in which sentences are collected."""
SPEAKING: Final = re.compile(r"Fault$|FieldError$|CellError$|Refused$|Wrong$")
WHOLE: Final = frozenset(
    {
        "wmsd/tenants/one_time_links/actions.py",
        "wmsd/tenants/accounts/passwords.py",
        "wmsd/dispatch/access_cache.py",
        "wmsd/server/alerts/conditions.py",
        "wmsd/server/alerts/mail_failures.py",
        "wmsd/server/alerts/channels.py",
        "wmsd/base/strict_json.py",
        "wmsd/db/engine/failures.py",
        "wmsd/db/sql/joined_records.py",
        "wmsd/tenants/sign_on/provider_requests.py",
        "wmsd/tenants/sign_on/exchange.py",
        "wmsd/tenants/sign_on/metadata.py",
        "wmsd/tenants/sign_on/rules.py",
        "wmsd/events/webhooks/sending/attempt.py",
        "wmsd/http_client/failures.py",
        "wmsd/events/webhooks/receiver_rules.py",
        "wmsd/events/webhooks/deliveries/results_store.py",
        "wmsd/events/webhooks/store.py",
        "wmsd/events/webhooks/sending/subscription_queue.py",
        "wmsd/http_client/urls.py",
        "wmsd/http_client/trusted_authorities.py",
        "wmsd/interfaces/pages/records/act.py",
        "wmsd/interfaces/pages/kit/browser.py",
        "wmsd/interfaces/http/form_origin.py",
        "wmsd/interfaces/pages/records/browse.py",
        "wmsd/interfaces/pages/webhooks/deliveries.py",
        "wmsd/interfaces/pages/kit/forms.py",
        "wmsd/interfaces/pages/webhooks/log_filters.py",
        "wmsd/interfaces/pages/kit/page_client.py",
        "wmsd/interfaces/pages/people/sign_on.py",
        "wmsd/interfaces/pages/people/trust.py",
        "wmsd/interfaces/pages/people/try_sign_on.py",
        "wmsd/interfaces/pages/people/invitation.py",
        "wmsd/interfaces/pages/kit/workplace.py",
    }
)
"""Modules in which every sentence counts as an error, because the search cannot trace how these sentences reach a
caller.
"""
TABLES: Final = {"wmsd/contract/validation.py": "SENTENCES", "wmsd/contract/field_errors.py": "MESSAGES"}
OF_FILES: Final = (
    "wmsd/maintenance/keys/recovery_phrase.py",
    "wmsd/maintenance/doctor/examine.py",
    "wmsd/data_folder/lending.py",
    "wmsd/db/migrations/__init__.py",
    "wmsd/db/engine/file_owner.py",
    "wmsd/db/files/read_only_copy.py",
)
"""Modules whose errors the doctor reports for a file that it cannot examine."""
OF_FIELD: Final = re.compile(
    r"(must|is|has|cannot|holds|names|does|would|goes|comes|are|can|was|needs|begins|takes|leaves"
    r"|differs|finds|lacks) "
)
OF_MESSAGE: Final = re.compile(r"[A-Z{][^\n]* [^\n]*[.]")
LONGEST_SHAPED: Final = 200
NEVER_SAID: Final = frozenset({
    "This token lack the ability {}.", "You lacks the ability {}.",  # subject and verb of two sentences
    'barcodes : "{}"', "{}:shared {}",  # expressions of a search, and the key of a limit
    "{} in {}", "does not exist",  # a part of a sentence, and a note in the log
    "The demo is open to you.",  # an answer that no page displays
    "There is no such {}. Did you mean {}?",  # `not_found` fills in a kind and a code
})  # fmt: skip
_LENGTHS: Final = tuple(
    f"must have at {bound} {{}} {unit}"
    for bound in ("least", "most")
    for unit in ("character", "characters", "item", "items")
)
MORE_NOUNS: Final = frozenset({"packaging type"})
SPELLED_OUT: Final = dict.fromkeys(("must have at {} {} {}s", "must have at {} {} {}"), _LENGTHS)
"""The sentences that a function builds from words, by the pattern in its code."""
DEEPEST: Final = 6
MOST_WAYS: Final = 40


@dataclass(slots=True)
class Module:
    path: str
    tree: ast.Module
    names: dict[str, ast.AST] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)


@cache
def modules() -> dict[str, Module]:
    found = {}
    for file in sorted((ROOT / "wmsd").rglob("*.py")):
        path = str(file.relative_to(ROOT))
        module = Module(path, ast.parse(file.read_text()))
        for node in module.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    module.names[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                    module.names[name] = value
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    module.names[name] = node
        for each in ast.walk(module.tree):
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                module.names.setdefault(each.name, each)
            if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("wmsd"):
                module.imported |= {a.asname or a.name: (each.module or "", a.name) for a in each.names}
        found[_dotted(path)] = module
    return found


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the code from which names are resolved."""

    module: Module
    function: ast.AST | None = None

    def named(self, name: str) -> Iterator[tuple["Place", ast.AST]]:
        if self.function is not None:
            local = list(_assigned(self.function, name))
            if local:
                yield from ((self, each) for each in local)
                return
        if name in self.module.names:
            yield Place(self.module), self.module.names[name]
        elif name in self.module.imported:
            home, own = self.module.imported[name]
            other = modules().get(home)
            if other is not None and f"{home}.{own}" not in modules():
                yield from Place(other).named(own)

    def of_module(self, name: str, attribute: str) -> Iterator[tuple["Place", ast.AST]]:
        home, own = self.module.imported.get(name, ("", ""))
        other = modules().get(f"{home}.{own}")
        if other is not None and attribute in other.names:
            yield Place(other), other.names[attribute]


def _assigned(function: ast.AST, name: str) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=own)], value=value) if own == name:
                yield value
            case ast.AnnAssign(target=ast.Name(id=own), value=value) if own == name and value is not None:
                yield value
            case ast.NamedExpr(target=ast.Name(id=own), value=value) if own == name:
                yield value


def texts(node: ast.AST, place: Place, depth: int = 0) -> list[str]:
    """Return the texts that an expression can produce, or no texts if the code does not show them."""
    if depth > DEEPEST:
        return []
    deeper = depth + 1
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            ways = [_part(each, place, deeper) for each in parts]
            return ["".join(way) for way in product(*ways)][:MOST_WAYS]
        case ast.IfExp(body=body, orelse=other):
            return texts(body, place, deeper) + texts(other, place, deeper)
        case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Set(elts=values):
            return [text for each in values for text in texts(each, place, deeper)]
        case ast.Dict(values=values):
            return [text for each in values if each is not None for text in texts(each, place, deeper)]
        case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each) | ast.DictComp(value=each):
            return texts(each, place, deeper)
        case ast.Lambda(body=body):
            return texts(body, place, deeper)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ways = [texts(left, place, deeper) or [PLACE], texts(right, place, deeper) or [PLACE]]
            return ["".join(way) for way in product(*ways)][:MOST_WAYS]
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return [re.sub(r"\{[^}]*\}", PLACE, text) for text in texts(value, place, deeper)]
        case ast.Subscript(value=value):
            return texts(value, place, deeper)
        case ast.Call(func=ast.Attribute(value=value, attr="get")):
            return texts(value, place, deeper)
        case ast.Name(id=name):
            found = place.named(name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            found = place.named(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            found = place.of_module(name, attribute)
        case ast.Call(func=ast.Name(id=name)):
            found = place.named(name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)):
            found = place.of_module(name, attribute)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            inside = Place(place.module, node)
            return [
                text
                for each in ast.walk(node)
                if isinstance(each, ast.Return) and each.value is not None
                for text in texts(each.value, inside, deeper)
            ]
        case _:
            return []
    return [text for where, each in found for text in texts(each, where, deeper)]


def _part(node: ast.AST, place: Place, depth: int) -> list[str]:
    """Return the possible texts of one part of a sentence: words from the source if the code shows them, otherwise
    a value.
    """
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.FormattedValue(value=ast.Name(id="__version__")):
            return [PLACE]
        case ast.FormattedValue(value=ast.IfExp() | ast.Name() as value, conversion=-1):
            found = texts(value, place, depth)
            return found if (found and all(found)) or (isinstance(value, ast.IfExp) and found) else [PLACE]
    return [PLACE]


def _said(node: ast.AST, place: Place) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
            if name in ("not_found", "or_not_found") and args:
                what = texts(args[0] if name == "not_found" else args[1], place) or [PLACE]
                yield from (f"There is no such {text}." for text in what)
                if name == "not_found" and len(args) > 1:
                    yield from (f"There is no such {text}. Did you mean {PLACE}?" for text in what)
            at = MESSAGE_AT.get(name)
            if at is not None and len(args) > at:
                yield from texts(args[at], place)
            if name in MAPPINGS:
                yield from (text for each in args for text in _of_fields(each, place))
            if SPEAKING.search(name):
                yield from (text for each in args for text in texts(each, place) if " " in text)
            for each in keywords:
                if each.arg == "noun":
                    yield from (f"There is no such {text}." for text in texts(each.value, place))
                if each.arg in ("errors", "sentence", "because"):
                    yield from texts(each.value, place)
            if name in ("append", "setdefault", "extend", "update") and _gathers(node.func):
                yield from (text for each in args for text in texts(each, place))
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value) if GATHERING.search(name):
            yield from texts(value, place)
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if GATHERING.search(name):
            yield from (text for text in texts(value, place) if " " in text)
        case ast.AugAssign(target=ast.Name(id=name), value=value) if GATHERING.search(name):
            yield from texts(value, place)
        case ast.Return(value=ast.Constant() | ast.JoinedStr() as value):
            yield from (text for text in texts(value, place) if OF_MESSAGE.fullmatch(text))
        case ast.Yield(value=ast.Tuple(elts=[*_, last])):
            yield from (text for text in texts(last, place) if " " in text)


def _of_fields(node: ast.AST, place: Place) -> list[str]:
    return texts(node, place) if isinstance(node, ast.Dict) else []


def _gathers(function: ast.AST) -> bool:
    return any(
        (isinstance(each, ast.Name) and GATHERING.search(each.id))
        or (isinstance(each, ast.Attribute) and GATHERING.search(each.attr))
        for each in ast.walk(function)
    )  # fmt: skip


def _nodes(tree: ast.AST, function: ast.AST | None = None) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    for child in ast.iter_child_nodes(tree):
        inside = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield child, inside
        yield from _nodes(child, inside)


def _is_left_out(path: str) -> bool:
    return any(path == each or path.startswith(each + "/") for each in LEFT_OUT)


def _sentences() -> Iterator[tuple[str, str]]:
    for module in modules().values():
        if _is_left_out(module.path) and module.path not in WHOLE:
            continue
        if module.path in TABLES:
            table = module.names[TABLES[module.path]]
            yield from ((text, module.path) for text in texts(table, Place(module)))
        for node, function in _nodes(module.tree):
            yield from ((text, module.path) for text in _said(node, Place(module, function)))


def _of_files() -> Iterator[tuple[str, str]]:
    for module in map(modules().__getitem__, map(_dotted, OF_FILES)):
        for node, function in _nodes(module.tree):
            match node:
                case ast.Call(
                    func=ast.Name(id="StorageError" | "WrongPhrase") | ast.Attribute(attr="__init__"),
                    args=[said],
                ):
                    yield from ((text, module.path) for text in texts(said, Place(module, function)))
                case ast.Call(func=ast.Name(id="WrongOwner"), args=[_, said, _]):
                    yield from ((text, module.path) for text in texts(said, Place(module, function)))
                case ast.keyword(arg="error", value=said):
                    yield from ((text, module.path) for text in texts(said, Place(module, function)))


def _shaped() -> Iterator[tuple[str, str]]:
    """Yield each text that reads like the sentence of a field, with its module.

    In modules of WHOLE, yield any sentence.
    """
    for module in modules().values():
        is_whole = module.path in WHOLE
        if is_whole or not _is_left_out(module.path):
            for text in _texts_of(module):
                is_said = OF_FIELD.match(text) or (is_whole and OF_MESSAGE.fullmatch(text))
                if is_said and len(text) < LONGEST_SHAPED:
                    yield text, module.path


def _texts_of(module: Module) -> Iterator[str]:
    """Yield all string literals of a module except its docstrings."""
    passed = {id(node.value) for node in ast.walk(module.tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values}
    for node, function in _nodes(module.tree):
        if id(node) not in passed and isinstance(node, ast.JoinedStr | ast.Constant):
            yield from texts(node, Place(module, function))


def _words() -> Iterator[tuple[str, str]]:
    """Yield the words from the source that appear in sentences."""
    from wmsd.contract.access import ROLES
    from wmsd.contract.tags import TAGS

    nouns = {tag.noun for tag in TAGS.values()} | MORE_NOUNS
    yield from ((word, "words") for word in sorted(nouns))
    yield from ((role.replace("-", " "), "words") for role in ROLES)
    yield from ((does, "words") for does in ROLES.values())
    # parts of the sentences about a stock adjustment
    yield from ((f" and {state}in quarantine", "words") for state in ("", "not "))
    yield from ((f"There is no such {word}.", "words") for word in sorted(nouns))
    yield from ((f"is taken by another {word}", "words") for word in sorted(MORE_NOUNS))


def is_sentence(text: str) -> bool:
    return bool(re.search(r"[a-z]{2,}", text)) and " " in text and text not in NEVER_SAID


@cache
def collected() -> dict[str, str]:
    """Return the sentences and words, each with the first file that contains it."""
    found: dict[str, str] = {}
    for text, path in (*_sentences(), *_shaped(), *_of_files()):
        told = re.sub(r"\{\w*\}", PLACE, text)
        for each in SPELLED_OUT.get(told, (told,)):
            if is_sentence(each):
                found.setdefault(each, path)
    for text, path in _words():
        found.setdefault(text, path)
    return found
