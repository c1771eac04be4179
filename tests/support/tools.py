"""Runs tools of other projects."""

import asyncio
from typing import Any


async def output_of(*command: object, seconds: float, with_errors: bool = False, **options: Any) -> str:
    """Run a tool that must succeed within `seconds`, and return its output.

    `with_errors` includes standard error.
    """
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
