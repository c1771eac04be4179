"""The filters of a webhook's log."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.events.webhooks.deliveries.schema import CLOSED_STATUSES
from wmsd.interfaces.pages.kit.references import records_of
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.moments import of_browser
from wmsd.interfaces.pages.kit.workplace import Workplace

NAMES: Final = ("status", "event", "record", "since", "until")
MOMENTS: Final = ("since", "until")
LONG_AGO: Final = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class LogFilters:
    """The filters of a webhook's log.

    `given` has the texts that the person typed. `query` has the filters as query parameters of the API. `errors`
    has the error messages for each filter.
    """

    given: dict[str, str]
    query: dict[str, str]
    errors: dict[str, list[str]] = field(default_factory=dict)

    def range(self) -> dict[str, object]:
        """Return a body for the operations that count matching deliveries or send them again."""
        several: dict[str, object] = {
            name: self.query[name].split(",") for name in ("status", "event") if name in self.query
        }
        return {"since": LONG_AGO, **self.query, **several}

    @property
    def may_be_sent_again(self) -> bool:
        """True if the filters can match deliveries that can be sent again.

        A delivery can be sent again only if it is finished. So the status filter must be empty, or name a final
        status.
        """
        return self.given.get("status") in (None, *CLOSED_STATUSES)


async def read(at: Workplace, sent: Mapping[str, str]) -> LogFilters:
    given = {name: sent[name].strip() for name in NAMES if sent.get(name, "").strip()}
    found = LogFilters(given, dict(given))
    for name in MOMENTS:
        if name in given:
            found.query[name] = of_browser(given[name])
    if "record" in given:
        records = await records_of(at, given["record"])
        if records is None:
            found.errors["record"] = [_("is neither the code of a document or an article, nor the id of a record")]
            del found.query["record"]
        else:
            found.query["record"] = records
    return found
