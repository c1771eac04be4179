"""One sending of one delivery."""

from typing import TYPE_CHECKING, Final

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.webhooks.deliveries import Due
from wmsd.webhooks.feed import Opened
from wmsd.webhooks.lazy_client import LazyClient
from wmsd.webhooks.results import Result
from wmsd.webhooks.signing import headers

if TYPE_CHECKING:
    from wmsd.webhooks.client import Answer

NO_CREDENTIALS: Final = "Its credentials cannot be read: another installation has sealed them. Send them anew."


async def attempt(
    client: LazyClient, clock: Clock, target: Opened, due: Due, is_sandbox: bool, party: int
) -> Result:
    """What came of it; whatever the receiver does is an answer. `party` as the client's."""
    assert due.event_id is not None
    assert due.event is not None
    assert due.body is not None
    now = clock.now()
    at = timestamps.to_text(now)
    if target.credentials is None:
        return Result(target.subscription_id, due.id, due.event, at, 0, None, None, NO_CREDENTIALS, False)
    body = due.body.encode()
    is_previous_valid = (target.previous_secret_expires_at or "") > at
    sent = headers(
        auth_type=target.auth_type,
        credentials=target.credentials,
        previous_secret=target.previous_secret if is_previous_valid else None,
        event_id=due.event_id,
        event=due.event,
        attempt=due.attempts + 1,
        sequence=due.sequence,
        seconds=int(now.timestamp()),
        body=body,
        is_sandbox=is_sandbox,
    )
    answer = await client.post(target.url, sent, body, party)
    return Result(
        subscription_id=target.subscription_id,
        delivery_id=due.id,
        event=due.event,
        at=at,
        milliseconds=round(answer.duration * 1000),
        status=answer.status,
        answer=_shown(answer),
        error=answer.error,
        is_success=answer.is_success,
    )


def _shown(answer: "Answer") -> str | None:
    if answer.status is None or not answer.is_kept:
        return None
    return answer.body.decode(errors="replace").replace("\0", "\ufffd")
