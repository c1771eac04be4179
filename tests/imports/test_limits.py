"""Tests of the cost of an upload: its process runs under limits, and its files count towards the
company's quota.
"""

import asyncio
import os
import resource
from pathlib import Path

import pytest

from tests.support.world import World
from wmsd.contract.context import Company
from wmsd.host import child_process
from wmsd.host.child_process import NICE, Limits
from wmsd.imports.upload_jobs import LEAST_MEMORY, MOST_MEMORY, ImportDesk, at_once_here, limits_here
from wmsd.imports.uploads import About, Upload

MEGABYTE = 1_000_000
LONG = 120.0
WRONG = "code\n" + "1\n" * 200_000
PLACES = "article_code,warehouse_code,quantity\n" + "".join(f"A-{n},MAIN,1\n" for n in range(60_000))
LOTS = "article_code,warehouse_code,lot_number,quantity\n" + "".join(f"A-1,MAIN,{n},1\n" for n in range(100_000))
"""Lots of one article in one warehouse, which are counted as a whole."""
COUNTED = "code,name\n" + "".join(f"A-{n},Article {n}\n" for n in range(60_000))


def desk_of(world: World, limits: Limits | None = None) -> ImportDesk:
    installation = world.installation
    costs = installation.dispatcher.costs
    return ImportDesk(installation.settings.imports, installation.folder, world.clock, costs, None, limits)


async def company_of(world: World) -> Company:
    return (await world.installation.access.companies())[world.company]


async def looked_at(world: World, desk: ImportDesk, kind: str, text: str) -> tuple[Upload, About]:
    """Examine an upload as the page does, in a separate process."""
    company = await company_of(world)
    made = await asyncio.to_thread(desk.uploads.make, company.id, About())
    made.file.write_text(text, encoding="utf-8")
    found, about = await desk.find(company, made.id)
    about.kind, about.file_name, about.bytes = kind, "list.csv", len(text)
    await desk.look(company, found, about)
    await asyncio.wait([desk._running[company.id].task], timeout=LONG)
    return await desk.find(company, made.id)


def counts_of(upload: Upload) -> object:
    preview = upload.preview()
    assert preview is not None
    return preview["counts"]


async def test_a_file_that_needs_too_much_memory_is_told_and_nothing_is_taken_in(world: World) -> None:
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name\nA-1,Article\n")
    _, about = await looked_at(world, desk_of(world, Limits(120 * MEGABYTE, 600)), "stock-count", LOTS)
    assert (about.state, about.message) == (
        "failed",
        "This file needs more than the 120 MB of memory that an import may use. Nothing was imported: split the "
        "file, and import the parts one after the other.",
    )
    found, about = await looked_at(world, desk_of(world), "stock-count", LOTS)
    assert (about.state, about.message) == ("looked", ""), "the limits of the product are enough"
    assert counts_of(found) == {"created": 0, "updated": 100_000, "unchanged": 0}


@pytest.mark.thorough
async def test_counts_of_many_articles_cost_no_memory(world: World) -> None:
    """Counts of many articles use no extra memory. In an earlier version each used 1.9 kB."""
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", COUNTED)
    desk, company = desk_of(world, Limits(150 * MEGABYTE, 600)), await company_of(world)
    found, about = await looked_at(world, desk, "stock-count", PLACES)
    assert (about.state, about.message) == ("looked", "")
    assert counts_of(found) == {"created": 0, "updated": 60_000, "unchanged": 0}
    await desk.start_import(company, found, about)
    await asyncio.wait([desk._running[company.id].task], timeout=LONG)
    found, about = await desk.find(company, found.id)
    assert (about.state, about.message) == ("imported", "")
    assert await desk.bytes_kept(company) < len(PLACES) + 20_000, "nobody reads there what has changed"


async def test_a_file_that_takes_too_long_is_told_and_nothing_is_taken_in(world: World) -> None:
    _, about = await looked_at(world, desk_of(world, Limits(MOST_MEMORY, 3)), "articles", WRONG)
    assert (about.state, about.message) == (
        "failed",
        "This file took more than 1 minutes of processor time and was stopped. Nothing was imported: "
        "split the file, and import the parts one after the other.",
    )


@pytest.mark.thorough
async def test_wrong_rows_cost_no_memory_and_no_disk(world: World) -> None:
    """Wrong rows use no extra memory and no extra disk space.

    In an earlier version each used over 0.3 kB of memory, and together twice the disk space of the file.
    """
    desk = desk_of(world, Limits(150 * MEGABYTE, 600))
    found, about = await looked_at(world, desk, "articles", WRONG)
    preview = found.preview()
    assert preview is not None
    assert (about.state, preview["errors_in_all"], preview["errors_kept"]) == ("looked", 399_999, 1000)
    lines = found.errors_file.read_text(encoding="utf-8").splitlines()
    assert (len(lines), lines[-1]) == (1002, ',,,"and 398999 more errors, which are only counted"')
    assert await desk.bytes_kept(await company_of(world)) < len(WRONG) + 300_000


async def test_what_a_process_costs_is_charged_to_its_company(world: World) -> None:
    await looked_at(world, desk_of(world), "articles", COUNTED)
    ((company, cost),) = world.installation.dispatcher.costs.most("company", 1)
    assert company == str(world.company)
    assert cost.seconds >= 0.5, "it is asked every second what the process has used"


async def test_each_process_gives_way_to_the_server() -> None:
    """Each process has a lower priority than the server, also a process without limits of its own, such as a
    backup.
    """
    for limits in (None, Limits(90 * MEGABYTE, 60)):
        process = await child_process.start(["sleep", "60"], limits)
        try:
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + NICE
            adjusted = await asyncio.to_thread(Path(f"/proc/{process.pid}/oom_score_adj").read_text)
            assert adjusted == "1000\n"
            most = resource.prlimit(process.pid, resource.RLIMIT_DATA)[0]
            assert most == (resource.getrlimit(resource.RLIMIT_DATA)[0] if limits is None else limits.data_bytes)
        finally:
            process.kill()
            await process.wait()


def test_all_processes_together_have_a_quarter_of_the_memory_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for gigabytes in (0.5, 1.5, 4, 64):
        monkeypatch.setattr("wmsd.imports.upload_jobs.machine_memory", lambda of=gigabytes: int(of * 10**9))
        found.append((at_once_here(), limits_here().data_bytes))
    assert found == [(1, LEAST_MEMORY), (1, 375 * MEGABYTE), (2, 500 * MEGABYTE), (2, MOST_MEMORY)]
