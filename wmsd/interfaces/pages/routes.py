"""The addresses of the pages."""

from typing import Final

from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.deliveries import actions as delivery_actions
from wmsd.events.webhooks.figures import list_webhook_figures
from wmsd.events.webhooks.test_receivers import actions as receiving
from wmsd.imports import actions as imports
from wmsd.installation.live_changes import LiveChanges, list_changes
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.server import Handler
from wmsd.interfaces.pages.admin.day_after import DayAfter
from wmsd.interfaces.pages.admin.pages import Oversight
from wmsd.interfaces.pages.admin.recovery_phrase import RecoveryPhrases
from wmsd.interfaces.pages.kit import admin_menu as house_pages
from wmsd.interfaces.pages.kit import assets
from wmsd.interfaces.pages.kit.addresses import DEMO, FIRST_ADMIN, WELCOME
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.kit.routing import add_page, add_visited
from wmsd.interfaces.pages.kit.session_door import HOME, SECOND_FACTOR, SIGN_IN, Door
from wmsd.interfaces.pages.people.account import ACCOUNT, PASSWORD, Account
from wmsd.interfaces.pages.people.first_run import START, FirstRun
from wmsd.interfaces.pages.people.invitation import Welcome
from wmsd.interfaces.pages.people.rights import Rights
from wmsd.interfaces.pages.people.second_factor import SecondFactor
from wmsd.interfaces.pages.people.sign_in import SigningIn
from wmsd.interfaces.pages.people.sign_on import BACK, TO_PROVIDER, SigningOn
from wmsd.interfaces.pages.people.trust import DOWNLOAD, TRUST, Trust
from wmsd.interfaces.pages.people.try_sign_on import TRY, Trying
from wmsd.interfaces.pages.records.act import Acting
from wmsd.interfaces.pages.records.browse import Browsing
from wmsd.interfaces.pages.records.downloads import Downloading
from wmsd.interfaces.pages.records.exports import EXPORTS
from wmsd.interfaces.pages.records.stock_why import Why
from wmsd.interfaces.pages.webhooks.deliveries import Deliveries
from wmsd.interfaces.pages.webhooks.delivery import Delivery
from wmsd.interfaces.pages.webhooks.event import EVENTS, Event
from wmsd.interfaces.pages.webhooks.receivers import Receivers
from wmsd.interfaces.pages.webhooks.redeliver import Redelivering
from wmsd.interfaces.pages.webhooks.subscriptions import Subscriptions
from wmsd.interfaces.pages.webhooks.webhook_secret import WebhookSecret
from wmsd.interfaces.pages.work.import_files import Importing
from wmsd.interfaces.pages.work.live import LIVE, Live
from wmsd.interfaces.pages.work.requests import Requests
from wmsd.interfaces.pages.work.today import Today
from wmsd.platform.admin_view import recovery_phrase as recovery
from wmsd.platform.admin_view.actions import get_last_examination
from wmsd.platform.discovery import get_health
from wmsd.platform.today.actions import get_today
from wmsd.request_history import actions as request_history
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import (
    password_actions as choosing_password,
)
from wmsd.tenants.accounts import (
    profile_actions as signed_in,
)
from wmsd.tenants.accounts import (
    second_factor_actions as second_step,
)
from wmsd.tenants.accounts import (
    user_administration,
)
from wmsd.tenants.accounts.expiring_tokens import count_ending_tokens
from wmsd.tenants.companies import company_administration as administration
from wmsd.tenants.one_time_links import demo_link, first_admin
from wmsd.tenants.sign_on import actions as sign_on
from wmsd.tenants.sign_on.try_claims import try_sign_on
from wmsd.warehouse.stock import actions as stock

ASKED: Final = (
    *(each for resource in (*ADMINISTRATION, *RESOURCES) for each in resource.operations),
    *EXPORTS.values(),
    *house_pages.operations(),
    recovery.check_recovery_phrase,
    recovery.create_recovery_phrase,
    recovery.decline_recovery_phrase,
    administration.name_installation,
    count_ending_tokens,
    choosing_password.change_password,
    choosing_password.choose_password,
    choosing_password.get_invited,
    demo_link.look_for_demo,
    demo_link.open_demo,
    first_admin.is_first_admin_wanted,
    first_admin.look_for_first_admin,
    first_admin.make_first_admin,
    user_administration.get_user_rights,
    accounts.begin_session,
    signed_in.choose_language,
    signed_in.end_other_sessions,
    signed_in.end_session,
    signed_in.end_this_session,
    signed_in.get_access,
    signed_in.get_profile,
    get_last_examination,
    get_today,
    list_changes,
    imports.get_upload,
    imports.get_upload_errors,
    imports.import_upload,
    imports.look_at_upload,
    signed_in.list_sessions,
    get_health,
    second_step.begin_enrolment,
    second_step.confirm_enrolment,
    second_step.count_recovery_codes,
    second_step.end_second_factor,
    second_step.finish_session,
    second_step.renew_recovery_codes,
    sign_on.begin_sign_on,
    sign_on.finish_sign_on,
    sign_on.list_providers,
    try_sign_on,
    stock.explain_stock,
    stock.find_stock,
    stock.list_stock_holders,
    stock.list_stock_movements,
    request_history.get_request,
    request_history.list_requests,
    delivery_actions.count_webhook_range,
    delivery_actions.get_webhook_delivery,
    list_webhook_figures,
    receiving.change_webhook_receiver,
    receiving.get_webhook_received,
    receiving.get_webhook_receiver,
    receiving.make_webhook_receiver,
    receiving.rotate_webhook_receiver_secret,
    webhooks.switch_on_webhook,
)
"""The operations that pages ask for. Some of them have no other way in."""
ID: Final = "[0-9]{1,15}"
A_COMPANY: Final = f"/companies/{{company:{ID}}}"
ADMIN: Final = "/admin"
WEBHOOKS: Final = f"{A_COMPANY}/webhooks"
WEBHOOK: Final = f"{WEBHOOKS}/{{id:{ID}}}"
DELIVERIES: Final = f"{WEBHOOK}/deliveries"
RECEIVER: Final = f"{WEBHOOK}/receiver"
STOCK: Final = f"{A_COMPANY}/stock/{{id:{ID}}}"
REQUESTS: Final = f"{A_COMPANY}/requests"
IMPORT: Final = f"{A_COMPANY}/imports/new"
UPLOAD: Final = f"{A_COMPANY}/imports/uploads/{{upload:[0-9A-Za-z_-]{{22}}}}"


def add_to(app: web.Application, installation: Installation, changes: LiveChanges) -> None:
    door = Door(installation)
    signing_in, account, today, browsing = SigningIn(door), Account(door), Today(door), Browsing(door)
    acting = Acting(door)
    rights, welcome, first_run = (
        Rights(door),
        Welcome(door),
        FirstRun(door, installation.folder.path.resolve(), installation.settings.alerts),
    )
    signing_on, trying, trust = SigningOn(door), Trying(door), Trust(installation)
    oversight, day_after, phrases = Oversight(door), DayAfter(door), RecoveryPhrases(door)
    importing = Importing(door)
    why, requests, second_factor, live = Why(door), Requests(door), SecondFactor(door), Live(door, changes)
    for_all: tuple[tuple[str, str, Handler], ...] = (
        ("GET", "/pages/{name}", assets.serve),
        ("GET", SIGN_IN, signing_in.show),
        ("POST", SIGN_IN, signing_in.sign_in),
        ("POST", "/second-step", signing_in.second_step),
        ("POST", "/sign-out", signing_in.sign_out),
        ("GET", FIRST_ADMIN, first_run.show_first_admin),
        ("POST", FIRST_ADMIN, first_run.make_first_admin),
        ("GET", DEMO, first_run.show_demo),
        ("POST", DEMO, first_run.open_demo),
        ("GET", WELCOME, welcome.show),
        ("POST", WELCOME, welcome.choose),
        ("GET", TRUST, trust.show),
        ("GET", DOWNLOAD, trust.download),
    )
    for_people: tuple[tuple[str, str, Handler], ...] = (
        ("GET", TO_PROVIDER, signing_on.begin),
        ("GET", BACK, signing_on.end),
        ("GET", TRY, trying.show),
        ("POST", TRY, trying.do),
        ("GET", HOME, today.show),
        ("GET", LIVE, live.stream),
        ("GET", START, first_run.show_steps),
        ("POST", START, first_run.name),
        ("GET", ACCOUNT, account.show),
        ("GET", PASSWORD, account.show_password),
        ("POST", PASSWORD, account.change_password),
        ("POST", "/account/language", account.choose_language),
        ("POST", "/account/sessions", account.end),
        ("GET", STOCK, why.show),
        ("GET", f"{STOCK}/movements", why.movements),
        ("GET", REQUESTS, requests.list),
        ("GET", f"{REQUESTS}/{{request_id:[0-9A-Za-z-]{{1,64}}}}", requests.one),
        ("GET", SECOND_FACTOR, second_factor.show),
        ("POST", SECOND_FACTOR, second_factor.do),
        *_of_webhooks(door, browsing),
        ("GET", f"{A_COMPANY}/{EVENTS.name}/{{id:[0-9a-f]{{32}}}}", Event(door).show),
        ("GET", IMPORT, importing.show),
        ("POST", IMPORT, importing.upload),
        ("GET", f"{A_COMPANY}/imports/templates/{{kind:[a-z-]+}}.csv", importing.template),
        ("GET", UPLOAD, importing.one),
        ("POST", UPLOAD, importing.choose),
        ("POST", f"{UPLOAD}/confirm", importing.confirm),
        ("GET", f"{UPLOAD}/errors.csv", importing.errors),
        ("GET", f"{ADMIN}/users/{{id:{ID}}}/rights", rights.show),
        ("GET", f"{ADMIN}/{house_pages.HEALTH.name}", oversight.health),
        ("POST", f"{ADMIN}/{house_pages.HEALTH.name}", oversight.examine),
        ("GET", f"{ADMIN}/{house_pages.BACKUPS.name}", oversight.backups),
        ("POST", f"{ADMIN}/{house_pages.BACKUPS.name}", oversight.back_up),
        ("GET", f"{ADMIN}/{house_pages.DAY_AFTER.name}", day_after.show),
        ("POST", f"{ADMIN}/{house_pages.DAY_AFTER.name}", day_after.settle),
        ("GET", f"{ADMIN}/{house_pages.RECOVERY.name}", phrases.show),
        ("POST", f"{ADMIN}/{house_pages.RECOVERY.name}", phrases.do),
        ("GET", f"{ADMIN}/{house_pages.JOBS.name}", oversight.jobs),
        ("GET", f"{ADMIN}/{house_pages.SETTINGS.name}", oversight.settings),
        *(each for place in (A_COMPANY, ADMIN) for each in _of_records(place, door, browsing, acting)),
    )
    for method, path, handler in for_all:
        add_visited(app, "asset" if handler is assets.serve else "page", method, path, handler)
    for method, path, handler in for_people:
        add_page(app, method, path, handler)


def _of_webhooks(door: Door, browsing: Browsing) -> tuple[tuple[str, str, Handler], ...]:
    """The addresses of a company's webhooks that are not like those of other records."""
    deliveries, delivery, redelivering = Deliveries(door), Delivery(door), Redelivering(door)
    secret, receivers, subscriptions = WebhookSecret(door), Receivers(door), Subscriptions(door, browsing)
    return (
        ("GET", WEBHOOKS, subscriptions.list),
        ("GET", f"{A_COMPANY}/{{resource:webhooks}}/{{id:{ID}}}", subscriptions.one),
        ("GET", f"{WEBHOOK}/rotate-secret", secret.show),
        ("POST", f"{WEBHOOK}/rotate-secret", secret.do),
        ("GET", DELIVERIES, deliveries.list),
        ("POST", DELIVERIES, deliveries.again),
        ("GET", f"{DELIVERIES}/again", redelivering.show),
        ("POST", f"{DELIVERIES}/again", redelivering.do),
        ("GET", f"{DELIVERIES}/{{delivery:{ID}}}", delivery.show),
        ("POST", f"{DELIVERIES}/{{delivery:{ID}}}", delivery.again),
        ("GET", RECEIVER, receivers.show),
        ("POST", RECEIVER, receivers.change),
        ("GET", f"{RECEIVER}/{{received:{ID}}}", receivers.one),
        ("GET", f"{RECEIVER}/{{received:{ID}}}/body.json", receivers.body),
    )


def _of_records(
    place: str, door: Door, browsing: Browsing, acting: Acting
) -> tuple[tuple[str, str, Handler], ...]:
    """The addresses of the records of a place: a company, or the installation."""
    resource = f"{place}/{{resource:[a-z-]+}}"
    record = f"{resource}/{{id:{ID}}}"
    return (
        ("GET", place, browsing.first),
        ("GET", f"{resource}.csv", Downloading(door).csv),
        ("GET", resource, browsing.list),
        ("GET", record, browsing.record),
        ("GET", f"{resource}/{{act:new[a-z-]*}}", acting.show),
        ("POST", f"{resource}/{{act:new[a-z-]*}}", acting.do),
        ("GET", f"{record}/{{act:[a-z-]+}}", acting.show),
        ("POST", f"{record}/{{act:[a-z-]+}}", acting.do),
    )
