"""Reads the answer of an operation, so that a long one does not keep the event loop from others."""

import asyncio
import json
from typing import Any, Final

from pydantic_core import from_json

BYTES_AT_ONCE: Final = 256 * 1024
"""One to three milliseconds of the processor."""
LIST: Final = b'{"data":['
"""How a list begins (see `app/replies.py`)."""
DECODER: Final = json.JSONDecoder()


async def read(body: bytes) -> Any:
    """What the JSON says. A long list is read record by record, and others run in between. Raises ValueError."""
    if len(body) <= BYTES_AT_ONCE or not body.startswith(LIST):
        return from_json(body)
    text = body.decode()
    records: list[Any] = []
    place = began = len(LIST)
    while text[place] != "]":
        record, place = DECODER.raw_decode(text, place)
        records.append(record)
        if text[place] == ",":
            place += 1
        if place - began > BYTES_AT_ONCE:
            began = place
            await asyncio.sleep(0)
    rest = text[place + 1 :].removeprefix(",")
    return {"data": records, **from_json(f"{{{rest}")}
