"""The fix of a damaged search index by `wmsd doctor --fix`. The fix empties the index, and the server fills it
again.
"""

from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import sole_transaction
from wmsd.db.files.integrity import UNREADABLE, messages_of_table
from wmsd.maintenance.doctor.examine import Examination
from wmsd.warehouse.search.index_damage import DAMAGED, TABLE
from wmsd.warehouse.search.search_store import empty_index

EMPTY_AGAIN: Final = "Empty the search index of {company}: the server fills it again from the records."


@dataclass(frozen=True, slots=True)
class DamagedIndex:
    company_id: int
    sentence: str
    """The sentence that describes the fix."""


def damaged_indexes(examination: Examination) -> list[DamagedIndex]:
    found = []
    for company_id, code in examination.known_companies():
        messages = examination.read_company(company_id, code, lambda tx: messages_of_table(tx, TABLE))
        if messages and all(each.startswith(DAMAGED) for each in messages):
            name = code or f"company {company_id}"
            found.append(DamagedIndex(company_id, EMPTY_AGAIN.format(company=name)))
    return found


def empty_damaged_index(examination: Examination, damaged: DamagedIndex) -> str | None:
    """Empty the search index. Return the reason if that failed. Otherwise return None."""
    try:
        with sole_transaction(examination.own_file(damaged.company_id)) as connection:
            empty_index(connection)
    except (StorageError, *UNREADABLE) as error:
        return " ".join(str(error).split()).rstrip(".")
    return None
