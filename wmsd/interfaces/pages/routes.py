"""The addresses of the pages.

If a page requires a sign-in, its handler has two arguments: a `Workplace`, such as the company in the address, and
the request.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from wmsd.installation.live_changes import LiveChanges
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.route_table import Handler
from wmsd.interfaces.pages.admin import after_restore, health, recovery_phrase, settings
from wmsd.interfaces.pages.kit import admin_menu, assets
from wmsd.interfaces.pages.kit.addresses import DEMO, FIRST_ADMIN, WELCOME
from wmsd.interfaces.pages.kit.page_client import HOME, SECOND_FACTOR, SIGN_IN, PageClient, SignedOut
from wmsd.interfaces.pages.kit.routing import add_page, add_visited
from wmsd.interfaces.pages.kit.workplace import Workplace, personal_workplace, workplace
from wmsd.interfaces.pages.paper import labels, papers, prints
from wmsd.interfaces.pages.people import (
    account,
    first_run,
    invitation,
    rights,
    second_factor,
    sign_in,
    sign_on,
    trust,
    try_sign_on,
)
from wmsd.interfaces.pages.people.account import ACCOUNT, PASSWORD
from wmsd.interfaces.pages.people.first_run import START
from wmsd.interfaces.pages.people.sign_on import BACK, TO_PROVIDER
from wmsd.interfaces.pages.people.trust import DOWNLOAD, TRUST
from wmsd.interfaces.pages.people.try_sign_on import TRY
from wmsd.interfaces.pages.records import act, browse, bulk, downloads, parts, stock
from wmsd.interfaces.pages.webhooks import (
    deliveries,
    delivery,
    event,
    receivers,
    redeliver,
    webhooks,
)
from wmsd.interfaces.pages.work import import_files, requests, search, today
from wmsd.interfaces.pages.work.live import LIVE, Live

ID: Final = "[0-9]{1,15}"
A_COMPANY: Final = f"/companies/{{company:{ID}}}"
ADMIN: Final = "/admin"
A_RECORD: Final = f"{A_COMPANY}/{{resource:[a-z-]+}}/{{id:{ID}}}"
WEBHOOKS: Final = f"{A_COMPANY}/webhooks"
WEBHOOK: Final = f"{WEBHOOKS}/{{id:{ID}}}"
DELIVERIES: Final = f"{WEBHOOK}/deliveries"
RECEIVER: Final = f"{WEBHOOK}/receiver"
STOCK: Final = f"{A_COMPANY}/stock/{{id:{ID}}}"
ARTICLE: Final = f"{A_COMPANY}/articles/{{id:{ID}}}"
REQUESTS: Final = f"{A_COMPANY}/requests"
IMPORT: Final = f"{A_COMPANY}/imports/new"
PAPERS: Final = f"{A_COMPANY}/{papers.PAPERS}"
UPLOAD: Final = f"{A_COMPANY}/imports/uploads/{{upload:[0-9A-Za-z_-]{{22}}}}"


PlaceHandler = Callable[[Workplace, web.Request], Awaitable[web.StreamResponse]]
"""The handler of a page that requires a sign-in."""
OWN_PAGES: Final[tuple[tuple[str, str, PlaceHandler], ...]] = (
    ("GET", HOME, today.show),
    ("GET", "/search", search.show_all),
    ("GET", ACCOUNT, account.show),
    ("GET", PASSWORD, account.show_password),
    ("POST", PASSWORD, account.change_password),
    ("POST", "/account/language", account.choose_language),
    ("POST", "/account/time-zone", account.choose_time_zone),
    ("POST", "/account/sessions", account.end),
    ("GET", SECOND_FACTOR, second_factor.show),
    ("POST", SECOND_FACTOR, second_factor.do),
)
ADMIN_PAGES: Final[tuple[tuple[str, str, PlaceHandler], ...]] = (
    ("GET", TRY, try_sign_on.show),
    ("POST", TRY, try_sign_on.do),
    ("GET", f"{ADMIN}/users/{{id:{ID}}}/rights", rights.show),
    ("GET", f"{ADMIN}/{admin_menu.HEALTH.name}", partial(health.show, admin_menu.HEALTH)),
    ("POST", f"{ADMIN}/{admin_menu.HEALTH.name}", partial(health.begin, admin_menu.HEALTH)),
    ("GET", f"{ADMIN}/{admin_menu.BACKUPS.name}", partial(health.show, admin_menu.BACKUPS)),
    ("POST", f"{ADMIN}/{admin_menu.BACKUPS.name}", partial(health.begin, admin_menu.BACKUPS)),
    ("GET", f"{ADMIN}/{admin_menu.AFTER_RESTORE.name}", after_restore.show),
    ("POST", f"{ADMIN}/{admin_menu.AFTER_RESTORE.name}", after_restore.settle),
    ("GET", f"{ADMIN}/{admin_menu.RECOVERY.name}", recovery_phrase.show),
    ("POST", f"{ADMIN}/{admin_menu.RECOVERY.name}", recovery_phrase.do),
    ("GET", f"{ADMIN}/{admin_menu.JOBS.name}", partial(health.show, admin_menu.JOBS)),
    ("GET", f"{ADMIN}/{admin_menu.SETTINGS.name}", settings.show),
)
COMPANY_PAGES: Final[tuple[tuple[str, str, PlaceHandler], ...]] = (
    ("GET", f"{A_RECORD}/labels", labels.show),
    ("GET", f"{A_COMPANY}/{{resource:[a-z-]+}}/labels", labels.show_several),
    ("POST", f"{A_COMPANY}/{{resource:[a-z-]+}}/labels", labels.choose),
    ("GET", f"{A_RECORD}/prints/{{print:[a-z-]+}}", prints.show),
    ("GET", PAPERS, papers.show),
    ("POST", PAPERS, papers.change),
    ("POST", f"{PAPERS}/logo", papers.upload_logo),
    ("POST", f"{PAPERS}/logo/remove", papers.take_logo_away),
    ("GET", f"{PAPERS}/logo/{{sha256:[0-9a-f]{{64}}}}", papers.serve_logo),
    ("GET", STOCK, stock.show),
    ("GET", f"{STOCK}/movements", stock.show_movements),
    ("GET", f"{ARTICLE}/lot", partial(parts.show, parts.LOT)),
    ("GET", f"{ARTICLE}/serial", partial(parts.show, parts.SERIAL)),
    ("GET", f"{ARTICLE}/lots", parts.show_lots),
    ("GET", f"{ARTICLE}/serials", parts.show_serials),
    ("GET", f"{ARTICLE}/movements", parts.show_movements),
    ("GET", f"{A_COMPANY}/search", search.show),
    ("GET", f"{A_COMPANY}/search/{{kind:articles|partners}}", search.show_choices),
    ("GET", REQUESTS, requests.show),
    ("GET", f"{REQUESTS}/{{request_id:[0-9A-Za-z-]{{1,64}}}}", requests.one),
    ("GET", WEBHOOKS, webhooks.show),
    ("GET", f"{A_COMPANY}/{{resource:webhooks}}/{{id:{ID}}}", webhooks.show_one),
    ("GET", f"{WEBHOOK}/rotate-secret", webhooks.show_new_secret),
    ("POST", f"{WEBHOOK}/rotate-secret", webhooks.rotate_secret),
    ("GET", DELIVERIES, deliveries.show),
    ("POST", DELIVERIES, deliveries.again),
    ("GET", f"{DELIVERIES}/again", redeliver.show),
    ("POST", f"{DELIVERIES}/again", redeliver.do),
    ("GET", f"{DELIVERIES}/{{delivery:{ID}}}", delivery.show),
    ("POST", f"{DELIVERIES}/{{delivery:{ID}}}", delivery.again),
    ("GET", RECEIVER, receivers.show),
    ("POST", RECEIVER, receivers.change),
    ("GET", f"{RECEIVER}/{{received:{ID}}}", receivers.one),
    ("GET", f"{RECEIVER}/{{received:{ID}}}/body.json", receivers.body),
    ("GET", f"{A_COMPANY}/{event.EVENTS.name}/{{id:[0-9a-f]{{32}}}}", event.show),
    ("GET", IMPORT, import_files.show),
    ("POST", IMPORT, import_files.upload),
    ("GET", f"{A_COMPANY}/imports/templates/{{kind:[a-z-]+}}.csv", import_files.template),
    ("GET", UPLOAD, import_files.show_upload),
    ("POST", UPLOAD, import_files.choose),
    ("POST", f"{UPLOAD}/confirm", import_files.confirm),
    ("GET", f"{UPLOAD}/errors.csv", import_files.errors),
)


def pages_of_records(place: str) -> tuple[tuple[str, str, PlaceHandler], ...]:
    """Return the routes of the pages that list, show and change records.

    `place` is the beginning of each path: the address of a company or of the administration.
    """
    resource = f"{place}/{{resource:[a-z-]+}}"
    record = f"{resource}/{{id:{ID}}}"
    return (
        ("GET", place, browse.show_first),
        ("GET", f"{resource}.csv", downloads.csv),
        ("GET", resource, browse.show),
        ("POST", f"{resource}/bulk", bulk.do),
        ("GET", record, browse.show_record),
        ("GET", f"{resource}/{{act:new[a-z-]*}}", act.show),
        ("POST", f"{resource}/{{act:new[a-z-]*}}", act.do),
        ("GET", f"{record}/{{act:[a-z-]+}}", act.show),
        ("POST", f"{record}/{{act:[a-z-]+}}", act.do),
    )


def add_to(app: web.Application, installation: Installation, changes: LiveChanges) -> None:
    door = PageClient(installation)
    for_all: tuple[tuple[str, str, Handler], ...] = (
        ("GET", "/pages/{name}", assets.serve),
        ("GET", SIGN_IN, partial(sign_in.show, door)),
        ("POST", SIGN_IN, partial(sign_in.sign_in, door)),
        ("POST", "/second-step", partial(sign_in.second_step, door)),
        ("POST", "/sign-out", partial(sign_in.sign_out, door)),
        ("GET", FIRST_ADMIN, partial(first_run.show_first_admin, door)),
        ("POST", FIRST_ADMIN, partial(first_run.make_first_admin, door)),
        ("GET", DEMO, partial(first_run.show_demo, door)),
        ("POST", DEMO, partial(first_run.open_demo, door)),
        ("GET", WELCOME, partial(invitation.show, door)),
        ("POST", WELCOME, partial(invitation.choose, door)),
        ("GET", TRUST, partial(trust.show, installation)),
        ("GET", DOWNLOAD, partial(trust.download, installation)),
    )
    beside_places: tuple[tuple[str, str, Handler], ...] = (
        ("GET", TO_PROVIDER, partial(sign_on.begin, door)),
        ("GET", BACK, partial(sign_on.end, door)),
        ("GET", LIVE, Live(door, changes).stream),
        ("GET", START, partial(first_run.show_steps, installation, door)),
        ("POST", START, partial(first_run.name, installation, door)),
    )
    in_places = (*ADMIN_PAGES, *COMPANY_PAGES, *pages_of_records(A_COMPANY), *pages_of_records(ADMIN))
    for method, path, handler in for_all:
        add_visited(app, "asset" if handler is assets.serve else "page", method, path, handler)
    for method, path, handler in beside_places:
        add_page(app, method, path, handler)
    for find, pages in ((personal_workplace, OWN_PAGES), (workplace, in_places)):
        for method, path, place_handler in pages:
            add_page(app, method, path, partial(_answered, find, door, place_handler))


async def _answered(
    find: Callable[[PageClient, web.Request], Awaitable[Workplace]],
    door: PageClient,
    handler: PlaceHandler,
    request: web.Request,
) -> web.StreamResponse:
    try:
        at = await find(door, request)
    except SignedOut:
        typed = await act.typed_too_late(door, request) if handler is act.do else {}
        if not typed:
            raise
        return await sign_in.show_too_late(door, request, typed)
    return await handler(at, request)
