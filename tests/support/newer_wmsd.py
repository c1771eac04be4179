"""A newer wmsd: a copy of this one with another version, and with the changes of a test."""

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
    """Copy wmsd into the new folder `at`, which must not exist, and return `at`: the folder for PYTHONPATH.

    `company` and `platform` are the SQL of the new migrations. `patches` has texts to append to files of the copy,
    by the file's path.
    """
    shutil.copytree(ROOT / "wmsd", at / "wmsd")  # with compiled files, otherwise each start takes seconds
    (at / "wmsd" / "__init__.py").write_text(f'__version__ = "{VERSION}"\n')
    # The new migration comes after all existing ones, whatever their numbers are.
    for kind, script in ((migrations.COMPANY, company), (migrations.PLATFORM, platform)):
        (at / "wmsd" / "db" / "migrations" / kind.name / "9999_newer.sql").write_text(script)
    for name, patch in patches.items():
        with (at / name).open("a") as file:
            file.write(patch)
    return at
