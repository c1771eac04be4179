"""Texts as programs write them, in the examples that pages show."""

import json


def double_quoted_text(text: str) -> str:
    """As JSON has it, and JavaScript and Python too."""
    return json.dumps(text, ensure_ascii=False)


def single_quoted_text(text: str) -> str:
    """As PHP has it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
