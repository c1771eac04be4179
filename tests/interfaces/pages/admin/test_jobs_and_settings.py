"""The pages Jobs and Settings: the result of each job, and the settings in force."""

import re

from tests.interfaces.pages.admin.test_health_pages import admin, house
from tests.interfaces.pages.records.test_browse import NOTHING, rows
from tests.interfaces.pages.visitor import Visitor
from wmsd.interfaces.pages.admin.settings import LONGEST_SEARCH

__all__ = ["admin", "house"]  # fixtures


async def jobs_of(visitor: Visitor) -> dict[str, list[str]]:
    """Return the cells of each job, by the job's title."""
    seen = await visitor.get("/admin/jobs")
    titles = re.findall(r'<td class="long"><b>(.*?)</b><br>', seen.text)
    return {title: cells[1:] for title, cells in zip(titles, rows(seen), strict=True)}


async def test_each_job_says_how_its_last_run_went(admin: Visitor) -> None:
    jobs = admin.world.jobs
    before = await jobs_of(admin)
    assert len(before) == len(jobs.log.jobs)
    assert before["Tidy files"][:3] == ["not yet", NOTHING, NOTHING]
    for _ in range(2):
        await jobs._run("tidy_files", jobs.tidy_files)

    async def make_reserve() -> None:
        raise OSError("the disk <b>fails</b>")

    await jobs._run("make_reserve", make_reserve)
    found = await jobs_of(admin)
    assert found["Tidy files"][0] == "20 Nov 2026, 12:00:00 UTC"
    assert found["Tidy files"][2:4] == ["succeeded", "2"]
    assert found["Disk reserve"][2:4] == ["failed OSError: the disk <b>fails</b>", "1"]
    await jobs._run("make_reserve", jobs.make_reserve)
    assert (await jobs_of(admin))["Disk reserve"][2].startswith("succeeded Failures: 1, the last 20 Nov 2026")
    seen = await admin.get("/admin/jobs")
    assert "<b>fails" not in seen.text


async def test_settings_are_searched(admin: Visitor) -> None:
    everything = rows(await admin.get("/admin/settings"))
    (every,) = [cells for cells in everything if cells[0] == "backup.every"]
    assert every[1:3] == ['"day"', "default"]
    seen = await admin.get("/admin/settings?search=PASSPHRASE")
    assert [cells[0] for cells in rows(seen)] == ["backup.passphrase_file"]
    assert "A change applies from the next backup on, without a restart." in seen.text
    for query in ("search=nothing+like+that", "source=file", "source=x", f"search={'x' * 5 * LONGEST_SEARCH}"):
        seen = await admin.get(f"/admin/settings?{query}")
        assert (seen.status, "No records match these filters." in seen.text) == (200, True), query
    assert "<script>" not in (await admin.get("/admin/settings?search=%3Cscript%3E")).text
