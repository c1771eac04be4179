"""The third-party components of wmsd, each with its version and its licence."""

import importlib.metadata
import json
import platform
import re
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import Distribution
from importlib.resources import files
from pathlib import Path
from typing import Final

from wmsd.base.dataclass import dataclass

PACKED: Final = files("wmsd") / "third_party.json"
"""The list of components for a packed wmsd. `wmsd.spec` creates this file, because a packed wmsd has no package
metadata.
"""
REQUIREMENTS: Final = Path(__file__).parents[2] / "requirements.txt"
DEMO: Final = files("wmsd.installation") / "demo_data" / "ATTRIBUTION.md"
REQUIREMENT: Final = re.compile(r"^([a-z0-9._-]+)==", re.MULTILINE)
LICENCE_WORD: Final = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
UNNAMED: Final = "see its text"
LONGEST_NAME: Final = 60
"""The maximum length of a licence's name, in characters. A longer text is ignored, because some packages state the
whole text of the licence instead of its name.
"""


@dataclass(frozen=True)
class Component:
    name: str
    version: str
    licence: str
    """The name of the licence. It is an SPDX expression if the package states one."""
    text: str


def components() -> list[Component]:
    """Return the components, sorted by name. Raise FileNotFoundError if this program is neither packed nor run
    from a checkout.
    """
    if PACKED.is_file():
        return [Component(**each) for each in json.loads(PACKED.read_text(encoding="utf-8"))]
    return sorted_by_name([*of_packages(locked()), *of_the_rest()])


def packed(found: Iterable[Component]) -> bytes:
    """Return these components as the content of the file `PACKED`."""
    return json.dumps([asdict(each) for each in sorted_by_name(found)], ensure_ascii=False).encode()


def sorted_by_name(found: Iterable[Component]) -> list[Component]:
    return sorted(found, key=lambda each: each.name.lower())


def locked() -> list[str]:
    """Return the names of the packages that wmsd needs, as `requirements.txt` lists them. Raise FileNotFoundError
    if this file is missing.
    """
    return REQUIREMENT.findall(REQUIREMENTS.read_text(encoding="utf-8"))


def of_packages(names: Iterable[str]) -> Iterator[Component]:
    """Yield the components of the installed packages.

    Names that are not installed are skipped, because `requirements.txt` also lists packages for other systems.
    """
    for name in names:
        with suppress(importlib.metadata.PackageNotFoundError):
            distribution = importlib.metadata.distribution(name)
            paths = sorted(str(file.locate()) for file in distribution.files or () if _is_licence(file.parts))
            text = "\n\n".join(Path(each).read_text(encoding="utf-8").strip() for each in paths) + "\n"
            yield Component(name, distribution.version, _licence(distribution, text), text)


def of_the_rest() -> Iterator[Component]:
    """Yield the components that are not installed as packages: Python, and the data of the demo company."""
    text = (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt").read_text(encoding="utf-8")
    yield Component("Python", platform.python_version(), "PSF-2.0", text)
    yield Component("Online Retail (data of the demo)", "2015", "CC-BY-4.0", DEMO.read_text(encoding="utf-8"))


def _is_licence(parts: Sequence[str]) -> bool:
    return parts[0].endswith(".dist-info") and LICENCE_WORD.match(parts[-1]) is not None


def _licence(distribution: Distribution, text: str) -> str:
    """Return the licence that the package states: an SPDX expression if possible, otherwise a less exact name."""
    metadata = distribution.metadata
    said = [value for field in ("License-Expression", "License") for value in metadata.get_all(field) or ()]
    classifiers = metadata.get_all("Classifier") or ()
    classified = [each.rpartition(":: ")[2] for each in classifiers if "License ::" in each]
    title = text.partition("\n")[0]
    named = [*said, ", ".join(classified), title if LICENCE_WORD.search(title) else ""]
    return next((each for each in named if each and len(each) <= LONGEST_NAME), UNNAMED)
