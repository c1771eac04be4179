"""`wmsd packaging`, and packaging types and movements in files."""

from typing import Any

import pytest

from tests.support.command import Tenant
from tests.support.forked import Done

HEADER = "code,packaging_type_code,partner_code,direction,quantity,occurred_at,notes\n"
NO_TIME = "must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z."
NO_TIME_IN_A_FILE = "must be a date and time, such as 24.11.2026 10:00+02:00 or 2026-11-24T10:00:00Z."
MOVEMENTS = (
    HEADER
    + "DN-1,PAL,P1,OUT,12.5,2026-11-01T08:00:00.000Z,Ramp 2\n"
    + "PM-000002,PAL,P1,IN,2,2026-11-02T08:00:00.000Z,\n"
    + "DN-3,CRATE,P1,OUT,0.000001,2026-11-03T08:00:00.000Z,\n"
    + "DN-4,PAL,P2,IN,7,2026-10-04T08:00:00.000Z,\n"
)


@pytest.fixture
def depot(stocked: Tenant) -> Tenant:
    stocked.take("packaging-types", "code,name\nPAL,Pallet\nCRATE,Crate\n")
    return stocked


def listed(tenant: Tenant, *arguments: str) -> Any:
    return tenant.home.ok("packaging", *arguments, "--company", tenant.code, "--json").json


def recording(**changes: str) -> tuple[str, ...]:
    """Return the arguments that record a movement."""
    options = {"type": "PAL", "partner": "P1", "direction": "OUT", "quantity": "1", **changes}
    return ("packaging", "record", *(part for name, value in options.items() for part in (f"--{name}", value)))


def record(tenant: Tenant, **changes: str) -> Done:
    return tenant.home.ok(*recording(**changes), "--company", tenant.code)


def balances(tenant: Tenant) -> list[tuple[str, str, float]]:
    return [(row["type"], row["partner"], row["quantity"]) for row in listed(tenant, "balances")]


def test_types_are_made_and_renamed_by_import(stocked: Tenant) -> None:
    done = stocked.home.ok("packaging", "types", "--company", stocked.code)
    assert (done.out, done.err.splitlines()[-1]) == (
        "",
        f"No packaging types yet. To import types: wmsd import packaging-types FILE.csv --company {stocked.code}",
    )
    assert stocked.take("packaging-types", "code,name\nPAL,Pallet\nCRATE,Crate\n") == (2, 0, 0)
    assert stocked.take("packaging-types", "name,code\nEuro pallet,PAL\nCrate,CRATE\nKeg,KEG\n") == (1, 1, 1)
    assert listed(stocked, "types") == [
        {"code": "PAL", "name": "Euro pallet"},
        {"code": "CRATE", "name": "Crate"},
        {"code": "KEG", "name": "Keg"},
    ]
    assert stocked.export("packaging-types") == "code,name\nPAL,Euro pallet\nCRATE,Crate\nKEG,Keg\n"


def test_recording_by_hand_says_the_code_and_the_new_balance(depot: Tenant) -> None:
    assert record(depot, quantity="12.5").out == ("code     PM-000001\ntype     PAL\npartner  P1\nbalance  12.5\n")
    noted = {"occurred-at": "2026-11-01T10:00:00+02:00", "notes": "wet"}
    arguments = recording(direction="IN", quantity="20", **noted)
    assert depot.home.ok(*arguments, "--company", depot.code, "--json").json == {
        "code": "PM-000002",
        "type": "PAL",
        "partner": "P1",
        "balance": -7.5,
    }
    assert listed(depot, "movements")[1] == {
        "code": "PM-000002",
        "type": "PAL",
        "partner": "P1",
        "direction": "IN",
        "quantity": 20,
        "occurred_at": "2026-11-01T08:00:00.000Z",
        "document_type": None,
        "document_id": None,
        "notes": "wet",
    }


def test_balances_and_movements_are_listed_by_partner_type_and_time(depot: Tenant) -> None:
    empty = depot.home.ok("packaging", "balances", "--company", depot.code)
    assert (empty.out, empty.err.splitlines()[-1]) == ("", "No balances found.")
    depot.take("packaging-movements", MOVEMENTS)
    assert balances(depot) == [("PAL", "P1", 10.5), ("CRATE", "P1", 0.000001), ("PAL", "P2", -7)]
    shown = depot.home.ok("packaging", "balances", "--company", depot.code).out.splitlines()
    assert [line.split()[3] for line in shown] == ["quantity", "10.5", "0.000001", "-7"]
    assert [row["partner"] for row in listed(depot, "balances", "--type", "PAL")] == ["P1", "P2"]
    assert [row["name"] for row in listed(depot, "balances", "--partner", "P1")] == ["Pallet", "Crate"]

    def codes(*arguments: str) -> list[str]:
        return [row["code"] for row in listed(depot, "movements", *arguments)]

    assert codes() == ["DN-1", "PM-000002", "DN-3", "DN-4"]
    assert codes("--partner", "P1", "--type", "PAL") == ["DN-1", "PM-000002"]
    assert codes("--since", "2026-11-02T10:00:00+02:00") == ["PM-000002", "DN-3"]
    paged = depot.home.ok("packaging", "movements", "--company", depot.code, "--per-page", "1", "--page", "3")
    assert ("DN-3" in paged.out, "DN-1" in paged.out, "1 of 4 rows, page 3" in paged.err) == (True, False, True)


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({"type": "pal"}, ["--type pal is not a packaging type of this company."]),
        ({"partner": "P9"}, ["--partner P9 is not a partner of this company."]),
        ({"quantity": "0"}, ["--quantity must be greater than 0."]),
        ({"quantity": "-1"}, ["--quantity must be greater than 0."]),
        ({"quantity": "1,5"}, ["--quantity must be a number with a decimal point, such as 12.5."]),
        ({"quantity": "1.000"}, ["--quantity can mean two numbers: write 1000 or 1."]),
        ({"quantity": "2,500"}, ["--quantity can mean two numbers: write 2500 or 2.5."]),
        ({"quantity": "NaN"}, ["--quantity must be a number with a decimal point, such as 12.5."]),
        ({"quantity": "0.0000001"}, ["--quantity must have at most 6 decimal places."]),
        ({"quantity": "1e999"}, ["--quantity must be at most 999999999.999999."]),
        ({"notes": "x" * 4001}, ["--notes must have at most 4000 characters."]),
        ({"occurred-at": "1.11.2026"}, [f"--occurred-at {NO_TIME}"]),
        (
            {"type": "X", "partner": "X", "quantity": "ten", "occurred-at": "2026-11-20T08:00:00"},
            [
                "--type X is not a packaging type of this company.",
                "--partner X is not a partner of this company.",
                "--quantity must be a number with a decimal point, such as 12.5.",
                "--occurred-at must have an offset from UTC, such as Z or +02:00.",
            ],
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_recorded_is_said(depot: Tenant, changes: dict[str, str], sentences: list[str]) -> None:
    assert depot.home.refusals(*recording(**changes), "--company", depot.code) == sentences
    assert listed(depot, "movements") == []


def test_a_balance_past_its_bounds_is_said(depot: Tenant) -> None:
    record(depot, quantity="999999999.999999")
    assert depot.home.refusals(*recording(quantity="0.5"), "--company", depot.code) == [
        "--quantity would change the balance to 1000000000.499999, beyond the limit of 999999999.999999."
    ]


def test_what_is_not_understood(depot: Tenant) -> None:
    place = ("--company", depot.code)
    assert "'UP' is not one of" in depot.home.misunderstood(*recording(direction="UP"), *place)
    without = depot.home.misunderstood("packaging", "record", *place)
    assert without.startswith("Error: Missing option '--type'")
    for kind in ("balances", "movements"):
        listing = ("packaging", kind, *place)
        assert depot.home.refused(*listing, "--partner", "P9") == "There is no such partner as P9."
        assert depot.home.refused(*listing, "--type", "X") == "There is no such packaging type as X."
    assert "'2026' is not a time." in depot.home.misunderstood("packaging", "movements", *place, "--since", "2026")


def test_an_export_is_taken_back_unchanged(depot: Tenant) -> None:
    assert depot.take("packaging-movements", MOVEMENTS) == (4, 0, 0)
    assert depot.export("packaging-movements") == MOVEMENTS
    assert depot.take("packaging-movements", MOVEMENTS) == (0, 0, 4)
    assert balances(depot) == [("PAL", "P1", 10.5), ("CRATE", "P1", 0.000001), ("PAL", "P2", -7)]


def test_movements_without_a_code_get_the_next_that_is_free(depot: Tenant) -> None:
    depot.take("packaging-movements", MOVEMENTS)
    rows = "packaging_type_code,partner_code,direction,quantity\nPAL,P1,OUT,1\nPAL,P1,OUT,1\n"
    assert depot.take("packaging-movements", rows, "--dry-run") == (2, 0, 0)
    assert depot.take("packaging-movements", rows) == (2, 0, 0)
    assert depot.take("packaging-movements", rows) == (2, 0, 0), "what has no code is not known"
    codes = [row["code"] for row in listed(depot, "movements")]
    assert codes[4:] == ["PM-000001", "PM-000003", "PM-000004", "PM-000005"]


def test_columns_that_are_not_there_are_not_compared(depot: Tenant) -> None:
    depot.take("packaging-movements", MOVEMENTS)
    header = "code,packaging_type_code,partner_code,direction,quantity"
    assert depot.take("packaging-movements", f"{header}\nDN-1,PAL,P1,OUT,12.50\n") == (0, 0, 1)
    assert depot.take("packaging-movements", f"{header},occurred_at\nDN-1,PAL,P1,OUT,12.5,\n") == (0, 0, 1)


KEPT = (
    "differs from the recorded movement DN-1, which cannot be changed: enter the recorded value, or use a new "
    "code for a new movement"
)
REFUSED = {
    "known with other content": (
        "DN-1,CRATE,P2,IN,12.4,2026-11-01T08:00:00.001Z,\n",
        [
            f"row 2, {column}: {KEPT}."
            for column in ("packaging_type_code", "partner_code", "direction", "quantity", "occurred_at", "notes")
        ],
    ),
    "missing": (
        ",,,,,,a note\n",
        [
            f"row 2, {column}: is required."
            for column in ("packaging_type_code", "partner_code", "direction", "quantity")
        ],
    ),
    "wrong types": (
        "X,PAL,P1,out,ten,1.11.2026,\nX2,PAL,P1,OUT,0,,\n",
        [
            "row 2, quantity: must be a number with a decimal point, such as 12.5.",
            f"row 2, occurred_at: {NO_TIME_IN_A_FILE}",
            "row 2, direction: must be 'IN' or 'OUT'.",
            "row 3, quantity: must be greater than 0.",
        ],
    ),
    "too big": (
        f"X,PAL,P1,OUT,1000000000,,\n{'x' * 65},PAL,P1,OUT,1,,{'n' * 4001}\nY,PAL,P1,OUT,999999999.999999,,\n",
        [
            "row 2, quantity: must be at most 999999999.999999.",
            "row 3, code: must have at most 64 characters.",
            "row 3, notes: must have at most 4000 characters.",
            "row 4, quantity: would change the balance to 1000000010.499999, beyond the limit of "
            "999999999.999999.",
        ],
    ),
    "twice": (
        "X,PAL,P1,OUT,1,,\nX,PAL,P1,OUT,1,,\nX,PAL,P1,OUT,ten,,\n",
        [
            "row 3, code: is given twice; first in row 2.",
            "row 4, quantity: must be a number with a decimal point, such as 12.5.",
            "row 4, code: is given twice; first in row 2.",
        ],
    ),
    "unknown": (
        "X,pal,P9,OUT,0,,\n",
        [
            "row 2, packaging_type_code: is not a packaging type of this company; PAL is the nearest code.",
            "row 2, partner_code: is not a partner of this company.",
            "row 2, quantity: must be greater than 0.",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_with_a_fault_is_refused_whole(depot: Tenant, case: str) -> None:
    depot.take("packaging-movements", MOVEMENTS)
    rows, sentences = REFUSED[case]
    assert depot.refuses("packaging-movements", f"{HEADER}{rows}GOOD,PAL,P1,OUT,0.5,,\n") == sentences


def test_types_that_are_refused(depot: Tenant) -> None:
    content = f"code,name\nA,\n,B\n{'x' * 65},C\nD,D\nD,D\n"
    assert depot.refuses("packaging-types", content) == [
        "row 2, name: is required.",
        "row 3, code: is required.",
        "row 4, code: must have at most 64 characters.",
        "row 6, code: is given twice; first in row 5.",
    ]
    assert depot.refuses("packaging-types", "code\nA\n") == ["the column 'name' is missing."]


def test_many_commands_at_once_lose_nothing_and_skip_no_code(depot: Tenant) -> None:
    started = [depot.home.start(*recording(), "--company", depot.code, "--json") for _ in range(10)]
    done = [(process.communicate(timeout=60), process.returncode) for process in started]
    assert [code for _, code in done] == [0] * 10, done
    assert [row["code"] for row in listed(depot, "movements")] == [f"PM-{number:06d}" for number in range(1, 11)]
    assert balances(depot) == [("PAL", "P1", 10)]
