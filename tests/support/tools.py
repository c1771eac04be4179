"""Runs other people's tools."""

import asyncio
from typing import Any


async def output_of(*command: object, seconds: float, with_errors: bool = False, **options: Any) -> str:
    """What a tool writes, `with_errors` also to standard error. It must end well, in so many seconds."""
    errors = asyncio.subprocess.STDOUT if with_errors else asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(
        *map(str, command), stdout=asyncio.subprocess.PIPE, stderr=errors, **options
    )
    try:
        written, complaints = await asyncio.wait_for(running.communicate(), seconds)
    finally:
        if running.returncode is None:
            running.kill()
    assert running.returncode == 0, (written + (complaints or b"")).decode()
    return written.decode()
