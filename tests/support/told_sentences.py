"""The sentences with which commands and starts fail, as the sources contain them.

`…` stands for inserted values.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeGuard

import wmsd

SOURCES: Final = Path(wmsd.__file__).parent
ERRORS: Final = frozenset({"StorageError", "SettingsError", "ServiceError", "NotOpened"})
REFUSALS: Final = ("_refusal", "_what_is_wrong")
"""Functions that return the sentence of an error."""
WARNINGS: Final = "risks"
"""The function that yields the warnings of a start."""
HOLE: Final = "…"
GOES_ON: Final = re.compile("[^a-z]*$|…[.]? …? ?(?:while it was in use|wmsd writes the content)")
"""Matches texts that only put other sentences together. These texts are left out."""


def sentences() -> dict[str, str]:
    """Return each sentence, with its place in the sources."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCES.rglob("*.py"))}
    errors = ERRORS | {name for tree in trees.values() for name in _kinds(tree)}
    found: dict[str, str] = {}
    for path, tree in trees.items():
        constants = dict(_constants(tree))
        is_command = any(path.is_relative_to(SOURCES / room) for room in ("interfaces/cli", "settings"))
        for node in ast.walk(tree):
            for told in _told(node, errors, is_command):
                if (sentence := _text(told, constants)) is not None and not GOES_ON.match(sentence):
                    found.setdefault(sentence, f"{path.relative_to(SOURCES)}:{told.lineno}")
    return found


def _kinds(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the classes that are derived from a class in ERRORS."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and ERRORS & {getattr(base, "id", "") for base in node.bases}:
            yield node.name


def _told(node: ast.AST, errors: frozenset[str], is_command: bool) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[told, *_]) if name in errors:
            yield told
        case ast.Call(func=ast.Name(id="Mistake"), args=[_, _, told]):
            yield told
        case ast.Call(func=ast.Name(id="fail"), args=[ast.List(elts=several)]) if is_command:
            yield from several
        case ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id="wrong")), args=[told]) if is_command:
            yield told
        case ast.Assign(targets=[ast.Name(id="NONE_YET" | "two_places")], value=told):
            yield told
        case ast.Assign(targets=[ast.Name(id="happened")], value=ast.Constant(value=str(text))):
            yield ast.Constant(f"{HOLE} {text} while it was in use", lineno=node.lineno)
        case ast.ClassDef(name=name) if name in errors - ERRORS:
            yield from (call.args[0] for call in ast.walk(node) if _is_made(call))
        case ast.FunctionDef(name=name) if name in REFUSALS:
            yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value)
        case ast.FunctionDef(name=name) if name == WARNINGS:
            yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Yield) and each.value)


def _is_made(node: ast.AST) -> TypeGuard[ast.Call]:
    """Return True for a call of `super().__init__` with which an error passes a sentence to its base class."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__" and bool(node.args)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the texts that a module declares by name, with holes for inserted values."""
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text))):
                yield name, re.sub(r"\{[a-z_]+\}", HOLE, text)


def _text(told: ast.expr, constants: Mapping[str, str]) -> str | None:
    match told:
        case ast.Call(func=ast.Attribute(attr="format", value=ast.Name(id=name))):
            return constants.get(name)
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in parts)
            return re.sub(f"{HOLE}+", HOLE, text)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{_text(left, constants) or HOLE}{_text(right, constants) or HOLE}"
    return None
