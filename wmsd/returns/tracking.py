"""What open returns forbid: see `articles/tracking.py`."""

from typing import Final

from wmsd.articles.tracking import Obstacle

OPEN_LINES: Final = """
    SELECT EXISTS (
        SELECT 1 FROM returns CROSS JOIN return_lines AS line ON line.return_id = returns.id
        WHERE returns.status IN ('CREAT', 'RECEPTIONAT') AND line.article_id = :id AND {condition}
    )
"""
OBSTACLES: Final = (
    Obstacle("off", OPEN_LINES.format(condition="line.serials IS NOT NULL"), "open returns have serials of it"),
    Obstacle(
        "on",
        OPEN_LINES.format(condition="line.quantity % 1000000"),
        "open returns have lines that are not whole units",
    ),
)
