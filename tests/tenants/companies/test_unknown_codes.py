"""The error for a company that was named by something other than its code."""

from typing import NamedTuple

import pytest

from wmsd.tenants.companies.unknown_codes import similar_code


class Named(NamedTuple):
    code: str
    name: str


@pytest.mark.parametrize("typed", ["Łódź Øst", "Ło\u0301dz\u0301 Øst", "lodz ost", "LODZ OST"])
def test_a_company_is_meant_by_its_name_however_its_letters_are_written(typed: str) -> None:
    assert similar_code(typed, [Named("NOVA", "Nova"), Named("L1", "Łódź Øst")]) == "L1"
