"""What an event tells of: the record that a person types, by its code or its id, and the link to it."""

import re
from typing import Final

from wmsd.events.webhooks.deliveries.schema import ENTITIES, MOST_RECORDS
from wmsd.interfaces.pages.kit.references import BY_ENTITY
from wmsd.interfaces.pages.kit.resources import BY_NAME, Resource
from wmsd.interfaces.pages.kit.workplace import Workplace

LONGEST_CODE: Final = 64
RESOURCES: Final[dict[str, Resource]] = {
    **{entity: BY_NAME[kind.table.name.replace("_", "-")] for entity, kind in BY_ENTITY.items()},
    "article": BY_NAME["articles"],
    "stock": BY_NAME["stock"],
    "webhook": BY_NAME["webhooks"],
}
"""By the entity of an event; those that have a page."""
IDS: Final = re.compile(r"(?:([a-z_]+)[: ])?[0-9]{1,15}", re.ASCII)
"""With a colon, or as the log shows it."""


def address_of(at: Workplace, entity: str, entity_id: int) -> str | None:
    """That of the record's page; None when there is none, or the person may not read it."""
    resource = RESOURCES.get(entity)
    if resource is None or not at.may(resource.listing):
        return None
    return f"{at.address}/{resource.name}/{entity_id}"


async def records_of(at: Workplace, typed: str) -> str | None:
    """The records as the log asks for them: all that have this code, or else this id; None when there is none."""
    found = []
    if len(typed) <= LONGEST_CODE:
        for entity, resource in RESOURCES.items():
            if resource.key == "code" and at.may(resource.listing):
                record_id = await at.id_of(resource, typed)
                found += [] if record_id is None else [f"{entity}:{record_id}"]
    if found:
        return ",".join(found[:MOST_RECORDS])
    ids = IDS.fullmatch(typed)
    return typed.replace(" ", ":") if ids and ids[1] in (None, *ENTITIES) else None
