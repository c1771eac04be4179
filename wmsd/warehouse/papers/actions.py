"""The operations on the details that are printed on a company's documents. Only admins can change them. Everyone
who prints documents can read them.
"""

import base64
import binascii
from functools import partial

from wmsd.base.problems import invalid, or_not_found
from wmsd.contract.operation import operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import column_values
from wmsd.warehouse.papers import store
from wmsd.warehouse.papers.logo import picture_of
from wmsd.warehouse.papers.schema import LogoContent, LogoFile, Papers, PapersChanges

PAPERS_ID = 1
"""The id of the only row of the table `papers`."""


def _record(tx: Transaction) -> Record:
    return Record(PAPERS_ID, store.papers_json(tx))


of_papers = partial(operation, tag="Company")
by_admins = partial(
    of_papers, answer="record", returns=Papers, role="company-admin", writes=True, precondition=_record
)


@of_papers(answer="record", returns=Papers)
def get_papers(tx: Transaction) -> Record:
    """Get the details that are printed on the company's documents."""
    return _record(tx)


@of_papers(answer="object", returns=LogoContent)
def get_logo(tx: Transaction) -> dict[str, object]:
    """Get the logo of the company."""
    file, media_type, sha256 = or_not_found(store.logo(tx), "logo")
    return {"media_type": media_type, "sha256": sha256, "file": base64.b64encode(file).decode()}


@by_admins(audited="papers.change")
def change_papers(tx: Transaction, body: PapersChanges) -> Record:
    """Change the details that are printed on the company's documents."""
    store.set_fields(tx, {**store.fields_now(tx), **column_values(body.given())})
    return _record(tx)


@by_admins(audited="papers.logo")
def set_logo(tx: Transaction, body: LogoFile) -> Record:
    """Set the logo of the company.

    A logo that the company already has is replaced.
    """
    try:
        file = base64.b64decode(body.file, validate=True)
        picture = picture_of(file)
    except binascii.Error:
        raise invalid({"file": ["must be Base64"]}) from None
    except ValueError as error:
        raise invalid({"file": [str(error)]}) from None
    store.set_logo(tx, file, picture)
    return _record(tx)


@by_admins(audited="papers.remove-logo")
def remove_logo(tx: Transaction) -> Record:
    """Remove the logo of the company."""
    store.remove_logo(tx)
    return _record(tx)
