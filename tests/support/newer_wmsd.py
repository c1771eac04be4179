"""A newer wmsd: a copy of this one with another version, and with what else a test changes in it."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import wmsd
from wmsd.db import migrations

VERSION: Final = "99.0.0"
ROOT: Final = Path(wmsd.__file__).parents[1]
NONE: Final[Mapping[str, str]] = MappingProxyType({})
ADDS_A_TABLE: Final = "CREATE TABLE pallets (id INTEGER PRIMARY KEY, code TEXT NOT NULL);"
FAILS_WITH_ARTICLES: Final = """
    CREATE TABLE refused (code TEXT NOT NULL CHECK (code <> 'BAD'));
    INSERT INTO refused SELECT code FROM articles;
"""


def newer_wmsd(
    at: Path, company: str = ADDS_A_TABLE, platform: str = ADDS_A_TABLE, patches: Mapping[str, str] = NONE
) -> Path:
    """Makes it in the folder `at`, which must not exist, and returns that: the folder for PYTHONPATH.
    `company` and `platform` are its new migrations. `patches`: what is put at the end of its files.
    """
    shutil.copytree(ROOT / "wmsd", at / "wmsd")  # with what is compiled, or each start would take seconds
    (at / "wmsd" / "__init__.py").write_text(f'__version__ = "{VERSION}"\n')
    for kind, script in ((migrations.COMPANY, company), (migrations.PLATFORM, platform)):
        number = int(kind.scripts()[-1].name[:4]) + 1
        (at / "wmsd" / "db" / "migrations" / kind.name / f"{number:04}_newer.sql").write_text(script)
    for name, patch in patches.items():
        with (at / name).open("a") as file:
            file.write(patch)
    return at
