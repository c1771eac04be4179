"""The log, on standard error: a line for a person, or a JSON object a line for a program."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

from wmsd.app.settings import Log
from wmsd.base import timestamps

EXTRA: Final = ("request_id", "company_id", "status")


class HumanFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        text = f"{moment:%Y-%m-%d %H:%M:%S} {record.levelname.lower():7} {record.getMessage()}"
        company = getattr(record, "company_id", "")
        request = getattr(record, "request_id", "")
        text += f" company={company}" if company else ""
        text += f" request={request}" if request else ""
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": timestamps.to_text(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name in EXTRA if (value := getattr(record, name, None)) not in (None, "")}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure(settings: Log) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.format == "json" else HumanFormatter())
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    for noisy in ("aiosqlite", "asyncio", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
