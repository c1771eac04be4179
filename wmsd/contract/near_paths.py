"""Finds the known path that a client probably meant: for the unknown path /api/articles, it is /api/articles/."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final

NOWHERE: Final = "This address does not exist."
LONGEST_PATH: Final = 200
MOST_PARTS: Final = 8
"""The maximum number of parts in an unknown path. For a longer path, wmsd does not search. A limit is needed
because a sender may send a path of any length.
"""
LONGEST_PART: Final = 40
NEAR: Final = 0.7
"""How similar two parts must be, from 0 to 1."""
FRONT: Final = "api"
VERSION: Final = re.compile(r"v[0-9]{1,3}", re.IGNORECASE)


class NearPaths:
    def __init__(self, paths: Callable[[], Iterable[str]]) -> None:
        """Create a search among `paths`, which contain `{name}` for a part that may be any text."""
        self._paths = paths

    @cached_property
    def _patterns(self) -> dict[int, list[list[str]]]:
        """All paths, each as a list of its parts. The key is the number of parts."""
        patterns: dict[int, list[list[str]]] = {}
        for path in dict.fromkeys(self._paths()):
            parts = path.split("/")[1:]
            patterns.setdefault(len(parts), []).append(parts)
        return patterns

    def sentence(self, path: str) -> str:
        """Return the error sentence for an unknown path, with the path that was probably meant, if any."""
        meant = self._meant(path)
        if meant is None or meant == path:
            return NOWHERE
        if path.rstrip("/") == meant:
            return f"{NOWHERE} Did you mean {meant}, without the slash at the end?"
        if re.sub("/+", "/", path) == meant:
            return f"{NOWHERE} Did you mean {meant}, without the double slash?"
        return f"{NOWHERE} Did you mean {meant}?"

    def _meant(self, path: str) -> str | None:
        parts = [part for part in path.split("/") if part] if len(path) <= LONGEST_PATH else []
        if not 0 < len(parts) <= MOST_PARTS:
            return None
        is_of_the_api = parts[0].lower() == FRONT
        after = parts[1:] if is_of_the_api else parts
        bare = after[1:] if after and VERSION.fullmatch(after[0]) else after
        wanted = parts, [FRONT, *after], [FRONT, *bare], [FRONT, "v2", *bare]
        exact = (self._found(each, 1) for each in wanted)
        return next(filter(None, exact), None) or (self._found(parts, NEAR) if is_of_the_api else None)

    def _found(self, parts: Sequence[str], likeness: float) -> str | None:
        """Return the known path whose parts are similar to `parts`, or None if no path is similar.

        `likeness` says how similar each part must be, from 0 to 1. With 1, the parts must be equal.
        """
        patterns, found = self._patterns.get(len(parts), []), []
        for place, part in enumerate(parts):
            meant = _like(part, [each[place] for each in patterns if not _is_any(each[place])], likeness)
            fits = _is_any if meant is None else meant.__eq__
            patterns = [each for each in patterns if fits(each[place])]
            found.append(meant or part)
        return "/" + "/".join(found) if patterns else None


def _is_any(part: str) -> bool:
    return part.startswith("{")


def _like(part: str, known: Sequence[str], likeness: float) -> str | None:
    wanted = part.lower().replace("_", "-")
    if wanted in known or likeness == 1 or len(part) > LONGEST_PART:
        return wanted if wanted in known else None
    return next(iter(difflib.get_close_matches(wanted, dict.fromkeys(known), n=1, cutoff=likeness)), None)
