"""Tests of library use: wmsd uses only the public parts of libraries, and replaces nothing in them."""

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import wmsd

ROOT: Final = Path(wmsd.__file__).parent
OF_NAMED_TUPLES: Final = {"_asdict", "_fields", "_replace"}
"""Public names in spite of the underscore, which separates them from the names of fields."""
EXCEPTIONS: Final = {
    "host/own_program.py: uses getattr(sys, '_MEIPASS', None)": "PyInstaller documents it under this name",
    "log/output.py: sets logging.raiseExceptions": "logging documents it as a switch for programs in use",
    "db/engine/sqlite.py: sets sys.modules['sqlite3']": "aiosqlite imports sqlite3, whose WAL can corrupt a file",
    "db/engine/sqlite.py: sets sys.modules['sqlite3.dbapi2']": "as above",
    "interfaces/cli/server/stop_deadline.py: uses os._exit": "os documents it; a thread of the process goes on",
}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_")


def own_names(tree: ast.AST) -> set[str]:
    """Return the private names that a module defines, or sets on its own objects."""
    found = OF_NAMED_TUPLES.copy()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def imported(tree: ast.AST) -> set[str]:
    """Return the names that stand for other packages, or for things in them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            package = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if package.partition(".")[0] != "wmsd":
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found


def root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def violations(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    own, others = own_names(tree), imported(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (f"imports {each.name}" for each in names if any(map(is_private, each.name.split("."))))
            case ast.ImportFrom(module=module, names=names):
                for each in names:
                    path = f"{module}.{each.name}"
                    if any(map(is_private, path.split("."))):
                        yield f"imports {path}"
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass  # what is inherited of it is checked below
            case ast.Attribute(attr=name) if is_private(name) and name not in own:
                yield f"uses {ast.unparse(node)}"
            case ast.Call(func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(str(name)), *_]):
                if is_private(name):
                    yield f"uses {ast.unparse(node)}"
            case ast.Attribute(ctx=context) | ast.Subscript(ctx=context) if not isinstance(context, ast.Load):
                if root(node) in others:
                    yield f"sets {ast.unparse(node)}"


@cache
def private_names(cls: type) -> set[str]:
    """Return the private names that the source of a class defines, and those that it uses of itself."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):  # the class is created at run time, or written in C
        return set(filter(is_private, vars(cls)))
    found = own_names(tree) - OF_NAMED_TUPLES
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super")), attr=name):
                found.add(name)
    return set(filter(is_private, found))


def inherited(cls: type) -> Iterator[str]:
    """Yield the private names that the class shares with a base class of another package, on purpose or not."""
    own = private_names(cls)
    for base in cls.__mro__[1:]:
        if own and base.__module__.partition(".")[0] not in ("wmsd", "builtins", "typing"):
            for name in sorted(own & private_names(base)):
                yield f"{cls.__module__}.{cls.__name__} shares {name} with {base.__module__}.{base.__name__}"


def test_wmsd_uses_public_interfaces_only() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {violation}"
        for path in ROOT.rglob("*.py")
        for violation in violations(path.read_text(encoding="utf-8"))
    }
    assert found == set(EXCEPTIONS)


def test_what_wmsd_inherits_it_leaves_alone() -> None:
    modules = [importlib.import_module(each.name) for each in pkgutil.walk_packages(wmsd.__path__, "wmsd.")]
    classes = {
        each
        for module in modules
        for each in vars(module).values()
        if inspect.isclass(each) and each.__module__ == module.__name__
    }
    assert len(classes) > 300
    assert [shared for each in classes for shared in inherited(each)] == []


@pytest.mark.parametrize(
    ("source", "violation"),
    [
        ("import a._b", "imports a._b"),
        ("from a import _b", "imports a._b"),
        ("from a._b import c", "imports a._b.c"),
        ("import a\na.b()._c()", "uses a.b()._c"),
        ("def f(a): return getattr(a, '_b')", "uses getattr(a, '_b')"),
        ("import a\na.B.c = 1", "sets a.B.c"),
        ("from a import b\ndel b.c", "sets b.c"),
        ("from a import b\nb['c'] = 1", "sets b['c']"),
    ],
)
def test_what_is_private_is_found(source: str, violation: str) -> None:
    assert list(violations(source)) == [violation]


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations",
        "class A:\n    def __init__(self): self._b = 1\n    def c(self, other): return other._b",
        "def f(record): return record._replace(a=1)",
        "from wmsd.a import b\nb.c = 1",
    ],
)
def test_what_is_ones_own_is_not(source: str) -> None:
    assert list(violations(source)) == []


def test_a_private_name_of_a_base_is_found() -> None:
    class Timer(importlib.import_module("threading").Timer):  # type: ignore[misc]  # found at run time
        def name_of_target(self) -> str:
            return str(self._target)

    assert list(inherited(Timer)) == [f"{__name__}.Timer shares _target with threading.Thread"]
