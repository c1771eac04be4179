"""The floor for HTTP: aiohttp on uvloop, with handlers that do no work.

    python -m benchmarks.floor PORT ANSWERS.json

ANSWERS maps routes to bodies. The floor sends only the body and its type, so every difference is a cost of wmsd.
"""

import asyncio
import json
import sys
from functools import partial
from pathlib import Path

import uvloop
from aiohttp import web


async def _answer(body: bytes, request: web.Request) -> web.Response:
    return web.Response(body=body, headers={"Content-Type": "application/json"})


async def _serve(port: int, answers: dict[str, str]) -> None:
    app = web.Application()
    for route, body in answers.items():
        app.router.add_get(route, partial(_answer, body.encode()))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))))
