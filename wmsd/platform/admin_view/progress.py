"""What work beside the server has said last."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from wmsd.platform.admin_view.schema import Progress


def progress_of(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """None as long as it has said nothing."""
    try:
        return Progress.model_validate({"doing": "examining", **told}).model_dump()
    except ValidationError:
        return None
