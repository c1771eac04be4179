"""An alert in the language of the page."""

from collections.abc import Mapping
from typing import Any

from wmsd.interfaces.pages.kit.text.finding_sentences import fact_of
from wmsd.interfaces.pages.kit.text.language import told, translated
from wmsd.server.alerts.kinds import BY_NAME, Empty, pattern, severity


def title_of(alert: Mapping[str, Any]) -> str:
    kind = BY_NAME.get(alert["kind"])
    return alert["kind"] if kind is None else translated(kind.title)


def sentence_of(alert: Mapping[str, Any]) -> str:
    """A fact may be a sentence of the house itself, such as why a file cannot be used."""
    kind = BY_NAME.get(alert["kind"])
    if kind is None:
        return str(alert["sentence"])
    facts = {name: told(fact_of(value, kind.words)) for name, value in alert["facts"].items()}
    return translated(pattern(kind, alert["subject"], is_over=False)) % Empty(facts)


def remedy_of(alert: Mapping[str, Any]) -> str:
    kind = BY_NAME.get(alert["kind"])
    return "" if kind is None else translated(kind.remedy)


def is_error(alert: Mapping[str, Any]) -> bool:
    return severity(alert["kind"]) == "error"
