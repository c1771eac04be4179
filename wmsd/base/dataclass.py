"""A replacement for dataclasses.dataclass that declares frozen classes faster.

For each frozen class the standard library (Python 3.11) compiles six methods, which takes a tenth of a server's
start. This module compiles only the constructor. The remaining methods need no compiling: they read the fields
with an attrgetter.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any


def _declare(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, **options: Any) -> Any:
    """Declare a dataclass. The options are those of dataclasses.dataclass, but a frozen class accepts only
    `slots`.
    """
    if cls is None:
        return lambda decorated: _declare(decorated, frozen=frozen, slots=slots, **options)
    if not frozen:
        return dataclasses.dataclass(cls, slots=slots, **options)
    if options:
        raise TypeError(f"{cls.__name__}: a frozen class cannot have {', '.join(sorted(options))}")
    return _frozen(cls, slots=slots)


def _frozen(cls: type, *, slots: bool) -> Any:
    own = {name for name, value in vars(cls).items() if value is not None}  # __eq__ alone sets __hash__ to None
    cls.__doc__ = cls.__doc__ or ""  # without it, the standard library would describe the constructor here
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots)
    fields = dataclasses.fields(made)
    methods = {"__init__": _constructor(fields, hasattr(made, "__post_init__")), **_comparison(fields), **SHARED}
    if slots:
        methods |= IN_SLOTS
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


def _constructor(fields: tuple[Field[Any], ...], is_continued: bool) -> Callable[..., None]:
    """Compile the constructor of a class. If `is_continued`, the constructor calls `__post_init__` at its end.

    This is the only compiled method: it is called most often, and its parameters are the fields.
    """
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters, body = ["self"], ["pass"]
    for field in fields:
        name, value = field.name, field.name
        if not field.init or field.kw_only:
            raise TypeError(f"{name}: a field of a frozen class must be a parameter by position or by name")
        if field.default_factory is not MISSING:
            known[f"_make_{name}"] = field.default_factory
            parameters.append(f"{name}=_missing")
            value = f"_make_{name}() if {name} is _missing else {name}"
        elif field.default is not MISSING:
            known[f"_default_{name}"] = field.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        body.append(f"_set(self, {name!r}, {value})")
    if is_continued:
        body.append("self.__post_init__()")
    made: dict[str, Callable[..., None]] = {}
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), known, made)  # noqa: S102  (of names of fields)
    return made["__init__"]


def _comparison(fields: tuple[Field[Any], ...]) -> dict[str, Callable[..., Any]]:
    values = _reader([field.name for field in fields if field.compare])

    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        return bool(values(self) == values(other)) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _reader(names: list[str]) -> Callable[[object], Any]:
    """Return a function that reads the fields `names` of an object. It returns the value of one field, or a tuple
    of the values of several.
    """
    return attrgetter(*names) if names else lambda _: ()


def _representation(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_change(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


SHARED = {"__repr__": _representation, "__setattr__": _refuse_change, "__delattr__": _refuse_deletion}
# The methods for copying and pickling objects that have no __dict__.
IN_SLOTS = {
    "__getstate__": _state,
    "__setstate__": _restore,
}

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # so that the type checker knows what is declared
else:
    dataclass = _declare
