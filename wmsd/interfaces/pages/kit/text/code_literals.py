"""Literals of programming languages, for the examples on pages."""

import json


def double_quoted_text(text: str) -> str:
    """Return the text as a JSON literal. JavaScript and Python accept the same literal."""
    return json.dumps(text, ensure_ascii=False)


def single_quoted_text(text: str) -> str:
    """Return the text as a literal of PHP."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
