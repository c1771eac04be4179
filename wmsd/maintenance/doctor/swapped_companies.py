"""Whether the files of two companies stand in each other's place, as after a copy by hand."""

from pathlib import Path

from wmsd.db.engine.file_owner import Owner
from wmsd.db.files.read_only_copy import owner_of


def swapped_with(companies: Path, company_id: int) -> Owner | None:
    """The company whose file stands in the place of this one's, while its own stands there."""
    here = owner_of(companies / f"{company_id}.db")
    if here is None or here.company_id == company_id:
        return None
    there = owner_of(companies / f"{here.company_id}.db")
    is_mutual = there is not None and there[:2] == (here.installation, company_id)
    return here if is_mutual else None
