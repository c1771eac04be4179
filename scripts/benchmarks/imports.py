"""The speed of an import, compared with bare SQLite, which gets the same rows in a form that it can insert.

    python -m benchmarks.imports wmsd DATA COMPANY_ID FILE.csv
    python -m benchmarks.imports floor IMPORTED.db NEW.db

Each runs in a separate process and prints the seconds of its work, without the start of the process.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.figures import IMPORT, Figure
from benchmarks.processes import Failed, progress, run
from benchmarks.records import insert, records
from benchmarks.site import Installation, articles_csv, installation
from benchmarks.size import sized

ROWS: Final = sized(100_000, 500)
ROUNDS: Final = sized(3, 1)


def measure() -> Iterator[Figure]:
    with installation() as site:
        file = site.data.parent / "articles.csv"
        file.write_text(articles_csv(ROWS), encoding="utf-8")
        seconds = [_round(site, file, number) for number in range(ROUNDS)]
        ours, floor, whole = (statistics.median(found) for found in zip(*seconds, strict=True))
        yield Figure(IMPORT, "rows/s", ROWS / ours, ROWS / floor)
        yield Figure(f"{IMPORT}, the whole command", "seconds", whole)


def _round(site: Installation, file: Path, number: int) -> tuple[float, float, float]:
    progress(f"{IMPORT}, {number + 1} of {ROUNDS}")
    timed, commanded = site.company(f"TIMED{number}"), site.company(f"COMMAND{number}")
    module = [sys.executable, "-m", "benchmarks.imports"]
    folder, companies = site.data.parent, site.data / "companies"
    ours = run([*module, "wmsd", site.data, str(timed.id), file], folder)
    bare = folder / f"floor-{number}.db"
    floor = run([*module, "floor", companies / f"{timed.id}.db", bare], folder)
    started = time.perf_counter()
    site.wmsd("import", "articles", file, "--company", commanded.code)
    return float(ours), float(floor), time.perf_counter() - started


async def _import(data: Path, company_id: int, file: Path) -> float:
    """Import the file as the command does, and return the seconds that this takes.

    The import stages the file's lines, checks them, and writes them in one unit of work. Raise Failed if an
    article was not created.
    """
    from wmsd.data_folder.folder import DataFolder
    from wmsd.imports.file_form import lines_of
    from wmsd.imports.file_kinds import KINDS, import_beside
    from wmsd.installation.open_installation import open_installation
    from wmsd.settings.all_settings import Settings

    async with open_installation(Settings(), DataFolder(data)) as site:
        staging = (await site.files.get(company_id)).staging()
    with file.open("rb") as lines:
        started = time.perf_counter()
        outcome = import_beside(staging, KINDS["articles"], lines_of(lines, "utf-8"))
        seconds = time.perf_counter() - started
    staging.close()
    if outcome.created != ROWS:
        raise Failed(f"{outcome.created} of {ROWS} articles were created.")
    return seconds


def _bare(imported: Path, new: Path) -> float:
    """Return the seconds to write an imported company's rows to a new file with the same schema and durability."""
    from wmsd.db.engine.sqlite import connect
    from wmsd.db.migrations import COMPANY, create_file

    source = connect(imported)
    sql, rows = insert("articles", records(source, "SELECT * FROM articles ORDER BY id"))
    source.close()
    create_file(new, COMPANY)
    target = connect(new)
    started = time.perf_counter()
    target.execute("BEGIN IMMEDIATE")
    target.executemany(sql, rows)
    target.execute("COMMIT")
    seconds = time.perf_counter() - started
    (count,) = target.execute("SELECT count(*) FROM articles").fetchone()
    target.close()
    if count != ROWS:
        raise Failed(f"{count} of {ROWS} rows are in the floor's file.")
    return seconds


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["wmsd", data, company_id, file]:
            print(asyncio.run(_import(Path(data), int(company_id), Path(file))))
        case ["floor", imported, new]:
            print(_bare(Path(imported), Path(new)))
        case _:
            sys.exit(__doc__)
