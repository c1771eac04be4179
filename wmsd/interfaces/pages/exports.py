"""The lists that can be taken away as files for an import: those of which there is a kind."""

from collections.abc import Mapping
from typing import Final

from wmsd.app.exporting import can_be_exported, exported
from wmsd.base.operation import Operation
from wmsd.interfaces.pages.resources import RESOURCES

EXPORTS: Final[Mapping[str, Operation]] = {
    resource.name: exported(resource.walking, resource.name)
    for resource in RESOURCES
    if can_be_exported(resource.name)
}
"""By the name of the resource, which is that of the kind."""
