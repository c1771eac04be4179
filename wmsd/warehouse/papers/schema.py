"""The details that are printed on a company's documents."""

from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.contract.fields import EmptyIsNull, Input, Model, Name, OptionalLabel
from wmsd.warehouse.directory.schema import Address
from wmsd.warehouse.papers.logo import MOST_BYTES, MediaType

LabelSize = Literal["label-sheet", "label-a6", "label-62x29", "label-100x50", "label-100x150"]
MOST_BASE64: Final = (MOST_BYTES + 2) // 3 * 4
"""The maximum length of a logo in Base64, in characters."""


class PapersFields(Input):
    """The settings for a company's printed documents. If `name` is empty, the documents show the name of the
    company.
    """

    name: Annotated[
        Name | None,
        EmptyIsNull,
        Field(description="Printed documents show this name. Leave empty to use the name of the company."),
    ] = None
    address: Address | None = None
    tax_id: OptionalLabel = None
    phone: OptionalLabel = None
    label_size: Annotated[
        LabelSize | None,
        EmptyIsNull,
        Field(description="When you print labels, wmsd proposes this size."),
    ] = None


class PapersChanges(PapersFields, partial=True):
    """The fields to change. Other fields keep their values."""


class Logo(Model):
    """The properties of a logo. `sha256` is the hash of its file, in hexadecimal digits."""

    media_type: MediaType
    sha256: str
    width: int
    height: int
    bytes: int


class Papers(PapersFields):
    """The company's details that are printed on its documents, such as its name, address and logo."""

    logo: Logo | None = None


class LogoFile(Input):
    """A PNG or JPEG file in Base64."""

    file: Annotated[str, Field(max_length=MOST_BASE64)]


class LogoContent(Model):
    """The file of a logo in Base64."""

    media_type: MediaType
    sha256: str
    file: str
