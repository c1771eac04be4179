"""Tests of `wmsd import` next to a running server: nobody waits while it reads, and nothing is left half done."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from tests.support.command import Server, Tenant
from tests.support.forked import LONGEST
from tests.support.survival import killed_at_each
from wmsd.db.engine.sqlite import connect, sqlite3

HEADER = "code,name\n"
STATE_OF_STOCK = """
    SELECT count(*), coalesce(min(quantity), 0), coalesce(max(quantity), 0), coalesce(sum(quantity), 0),
        (SELECT coalesce(sum(quantity), 0) FROM stock_movements), (SELECT count(*) FROM stock_movements),
        (SELECT count(*) FROM events WHERE event = 'stock.updated')
    FROM stock
"""


@pytest.fixture
def server(tenant: Tenant) -> Iterator[Server]:
    with tenant.home.serving() as server:
        yield server


@pytest.fixture
def company(tenant: Tenant) -> int:
    companies = tenant.home.ok("company", "list", "--json").json
    (found,) = [each["id"] for each in companies if each["code"] == tenant.code]
    assert isinstance(found, int)
    return found


def create(server: Server, company: int, code: str) -> int:
    """Create an article and return the status."""
    headers = {"Authorization": f"Bearer {server.token}", "X-Company-Id": str(company)}
    headers["Content-Type"] = "application/json"
    body = json.dumps({"code": code, "name": "By REST"}).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{server.address}/api/articles", body, headers), timeout=LONGEST
        ) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def codes(tenant: Tenant) -> list[str]:
    return [row["code"] for row in tenant.rows("articles")]


def importing(tenant: Tenant, folder: Path) -> "subprocess.Popen[str]":
    """Start an import of articles that waits for its input, with a separate folder for temporary files."""
    command = ("import", "articles", "-", "--company", tenant.code, "--json")
    return tenant.home.start(*command, stdin=subprocess.PIPE, env={"TMPDIR": str(folder)})


def sent(process: "subprocess.Popen[str]", text: str) -> None:
    """Send text, and return when the process has read it and waits for more."""
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()
    until(lambda: unread(process) == 0)


def unread(process: "subprocess.Popen[str]") -> int:
    """Return the number of bytes that wait in the pipe."""
    assert process.stdin is not None
    (count,) = struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))
    assert isinstance(count, int)
    return count


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_an_input_that_stalls_keeps_nobody_waiting(
    tenant: Tenant, server: Server, company: int, tmp_path: Path
) -> None:
    with importing(tenant, tmp_path) as process:
        sent(process, HEADER + "".join(f"F{number},From the file\n" for number in range(3000)))
        for number in range(20):
            assert create(server, company, f"R{number}") == 201
        assert codes(tenant) == [f"R{number}" for number in range(20)]
        out, _ = process.communicate("LAST,From the file\n", timeout=LONGEST)
    assert json.loads(out)["created"] == 3001
    assert len(codes(tenant)) == 3021


def test_a_question_needs_no_writer(tenant: Tenant, company: int) -> None:
    """A question needs no writer, so it is asked while another program writes. Orders are tried on a copy."""
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    content = "code;partner_code;warehouse_code;article_code;quantity\nO1;P1;MAIN;A;1,000\n"
    file = tenant.home.data / "companies" / f"{company}.db"
    with closing(connect(file, busy_seconds=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        wrong = tenant.home.refusals("import", "sales-orders", "-", "--company", tenant.code, stdin=content)
        other.execute("ROLLBACK")
    assert wrong[0].endswith("Use --decimal point or --decimal comma.")
    assert 'row 2, partner_code: is not a partner of this company. The cell has "P1".' in wrong


def test_a_dry_run_of_orders_needs_no_writer(tenant: Tenant, company: int) -> None:
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    tenant.take("partners", "code,name\nP1,Partner\n")
    tenant.take("articles", HEADER + "A,Apple\n")
    tenant.take("stock", "article_code,warehouse_code,quantity\nA,MAIN,5\n")
    content = "code,partner_code,warehouse_code,article_code,quantity\nO1,P1,MAIN,A,1\n"
    file = tenant.home.data / "companies" / f"{company}.db"
    with closing(connect(file, busy_seconds=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert tenant.take("sales-orders", content, "--dry-run") == (1, 0, 0)
        other.execute("ROLLBACK")
        assert other.execute("SELECT count(*) FROM sales_orders").fetchone() == (0,)


def test_ctrl_c_while_it_reads_leaves_nothing(tenant: Tenant, tmp_path: Path) -> None:
    with importing(tenant, tmp_path) as process:
        sent(process, HEADER + "A,Apple\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1] == "wmsd: Interrupted: nothing was imported."
    assert codes(tenant) == []
    assert list(tmp_path.iterdir()) == []


def test_a_kill_while_it_writes_leaves_nothing(tenant: Tenant, company: int, tmp_path: Path) -> None:
    tenant.take("articles", HEADER + "F1,Known\n")
    file = tenant.home.data / "companies" / f"{company}.db"
    counts = "(SELECT value FROM change_sequence), (SELECT count(*) FROM events)"
    state = f"SELECT {counts}, count(*), max(name) FROM articles"
    rows = "".join(f"F{number},From the file\n" for number in range(40_000))
    with closing(connect(file, busy_seconds=0)) as beside:
        before = beside.execute(state).fetchone()

        def is_written_to() -> bool:
            try:
                beside.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
            beside.execute("ROLLBACK")
            return False

        with importing(tenant, tmp_path) as process:
            sent(process, HEADER + rows)
            assert process.stdin is not None
            assert not is_written_to()
            process.stdin.close()
            until(is_written_to)
            process.kill()
        assert beside.execute(state).fetchone() == before
    assert list(tmp_path.iterdir()) == []
    assert tenant.take("articles", HEADER + rows) == (39_999, 1, 0)


def test_a_kill_at_any_sync_leaves_all_of_a_count_or_nothing(tenant: Tenant, company: int) -> None:
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    tenant.take("articles", HEADER + "".join(f"A{number},Article\n" for number in range(3000)))
    file = tenant.home.data / "companies" / f"{company}.db"
    quantities = count(1)

    def count_again() -> tuple[str | Path, ...]:
        quantity = next(quantities)
        rows = "".join(f"A{number},MAIN,{quantity}\n" for number in range(3000))
        path = tenant.home.write("count.csv", "article_code,warehouse_code,quantity\n" + rows)
        return ("import", "stock", path, "--company", tenant.code)

    states: list[tuple[int, ...]] = []
    for _ in killed_at_each(tenant.home, ("fsync", "fdatasync"), count_again):
        with closing(connect(file)) as beside:
            states.append(beside.execute(STATE_OF_STOCK).fetchone())
    assert states
    for records, least, most, balances, moved, moves, told in states:
        assert (records, least) in ((0, 0), (3000, most)), states
        assert (balances, moves % 3000, told) == (moved, 0, moves), states
    tenant.home.ok(*count_again())
    assert tenant.home.ok("doctor", "--company", tenant.code, "--json").json


def test_a_full_temporary_folder_is_told(tenant: Tenant, small_disk: Path) -> None:
    rows = "".join(f"F{number},{'From the file ' * 10}\n" for number in range(20_000))
    path = tenant.home.write("large.csv", HEADER + rows)
    command = ("import", "articles", path, "--company", tenant.code)
    sentence = tenant.home.refused(*command, env={"TMPDIR": str(small_disk)})
    assert sentence == (
        f"The rows cannot be written to the temporary folder {small_disk}: database or disk is full. "
        "Free some space there, or name another folder in TMPDIR."
    )
    assert codes(tenant) == []
    assert list(small_disk.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of one megabyte, which only root can do."""
    place = tmp_path / "small"
    place.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place]).returncode:
        pytest.skip("cannot mount a disk")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_memory_does_not_grow_with_the_file(tenant: Tenant) -> None:
    few, many = (peak_megabytes(tenant, count) for count in (1, 60_000))
    assert many - few < 32, (few, many)


def peak_megabytes(tenant: Tenant, count: int) -> float:
    rows = "".join(f"M{number},{'Name' * 20}\n" for number in range(count))
    path = tenant.home.write("many.csv", HEADER + rows)
    command = ("import", "articles", path, "--company", tenant.code, "--json")
    process = tenant.home.start(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss / 1024
