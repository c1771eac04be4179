"""The lists as files: each for spreadsheets, and those of which there is a kind for an import too."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from wmsd.base.problems import or_not_found
from wmsd.contract.operation import Operation
from wmsd.imports.exports import as_export, as_lines, can_be_exported
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.resources import RESOURCES

EXPORTS: Final[Mapping[str, Operation]] = {
    resource.name: as_export(resource.walking, resource.name)
    for resource in RESOURCES
    if can_be_exported(resource.name)
}
"""By the name of the resource, which is that of the kind."""
NOT_IN_A_CELL: Final = ("table", "facts")


class ListFile(NamedTuple):
    name: str
    """The beginning of the file's name."""
    walking: Operation
    """Its answers are lines (see `Lines`)."""
    columns: Sequence[str]


def for_import(resource: Resource) -> ListFile:
    """Raises Problem (404) where there is no such import."""
    walking = or_not_found(EXPORTS.get(resource.name), "page")
    return ListFile(f"{resource.name}-for-import", walking, list(KINDS[resource.name].columns))


def for_spreadsheets(resource: Resource) -> ListFile:
    """With the fields that have one value."""
    columns = [field.name for field in resource.fields.values() if field.kind not in NOT_IN_A_CELL]
    return ListFile(resource.name, as_lines(resource.walking, columns), columns)
