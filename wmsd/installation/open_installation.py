"""The composition root: opens an installation, creates its parts and connects them. Nothing is global."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from wmsd.base.clock import Clock, OrderedClock, SystemClock
from wmsd.base.cursor import CursorSigner
from wmsd.base.dataclass import dataclass
from wmsd.base.ids import Ids, RandomIds
from wmsd.base.vault import Vault
from wmsd.contract.access import Whitelist, abilities_in_force
from wmsd.contract.context import PROGRAM, Actor
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.high_water_marks import HighWaterMarks, go_on
from wmsd.data_folder.key_file import open_key
from wmsd.data_folder.open_platform import open_platform
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.files.company_file import Borrow
from wmsd.db.files.company_files import CompanyFiles
from wmsd.db.migrations import Before, only_by_a_server
from wmsd.dispatch.access_cache import AccessCache
from wmsd.dispatch.dispatcher import Dispatcher
from wmsd.dispatch.freezes import Freezes
from wmsd.dispatch.limits.growth_limits import Storage
from wmsd.dispatch.limits.rate_limits import Limiter
from wmsd.dispatch.request_counts import RequestCounts
from wmsd.dispatch.request_measures import RequestMeasures
from wmsd.http_client.guard import Guard
from wmsd.request_history.history import RequestHistory
from wmsd.settings.all_settings import Settings
from wmsd.settings.sections.alerts import Alerts
from wmsd.settings.sections.sign_on import SignOn
from wmsd.settings.sections.webhooks import Webhooks
from wmsd.tenants.accounts.actions import SignInService
from wmsd.tenants.accounts.failed_sign_ins import FailedSignIns
from wmsd.tenants.accounts.last_admin import SignOnAccounts
from wmsd.tenants.accounts.passwords import Passwords
from wmsd.tenants.accounts.second_factor_actions import SecondStepService
from wmsd.tenants.accounts.sessions import Lifetimes, SessionUses
from wmsd.tenants.accounts.token_administration import TokenLifetimes
from wmsd.tenants.companies.company_administration import CompanyFileMaker
from wmsd.tenants.sign_on import store as sign_on_store
from wmsd.warehouse.articles.tracking_rules import Obstacles
from wmsd.warehouse.contributions import DEPENDENTS, HOLDINGS, OBSTACLES
from wmsd.warehouse.directory.closing_rules import Holdings
from wmsd.warehouse.documents.dependents import Dependents
from wmsd.warehouse.search.index_damage import DamagedIndexes

LOG = logging.getLogger("wmsd.installation")


@dataclass(frozen=True, slots=True)
class Installation:
    settings: Settings
    folder: DataFolder
    clock: OrderedClock
    time_zone: ZoneInfo
    """The time zone of companies and people that have not set one."""
    ids: Ids
    platform: Database
    files: CompanyFiles
    access: AccessCache
    requests: RequestCounts
    marks: HighWaterMarks
    passwords: Passwords
    abilities: Mapping[str, str]
    """The abilities that users may have, each with what it allows."""
    dispatcher: Dispatcher
    vault: Vault
    guard: Guard
    storage: Storage
    freezes: Freezes
    history: RequestHistory
    measures: RequestMeasures
    failed_sign_ins: FailedSignIns
    damaged_indexes: DamagedIndexes


def new_guard(settings: Settings, section: Literal["webhooks", "sign_on", "alerts"] = "webhooks") -> Guard:
    """Create the guard that allows or refuses outgoing connections. `section` is the section of the settings whose
    rules the guard applies. The guard never lets the server connect to itself.
    """
    own_port = int(settings.server.listen.rpartition(":")[2])
    given: Webhooks | SignOn | Alerts = getattr(settings, section)
    own_ports = [own_port] if own_port else []
    return Guard(given.allow_networks, given.allow_http, own_ports, given.allow_ports, section)


async def _write_last(requests: RequestCounts) -> None:
    """Store the request counts that are not stored yet.

    If this fails, log the error and raise nothing, so that the other parts of the installation are closed too.
    """
    try:
        await requests.write()
    except STORAGE_FAILURES as error:
        LOG.error("the request counts of the last minute could not be stored: %s", error)


@asynccontextmanager
async def open_installation(
    settings: Settings,
    folder: DataFolder,
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    passwords: Passwords | None = None,
    alone: bool = False,
    borrow: Borrow | None = None,
    before_migration: Before = only_by_a_server,
    who: Actor = PROGRAM,
) -> AsyncIterator[Installation]:
    """Open the installation in `folder` and yield it. Close every connection at the end.

    With `alone`, other processes cannot open the files. Only a server does this; it can release a file to a
    command. A command passes `borrow`, which is called before a company's file is opened. It asks the running
    server to release the file. `before_migration` is called before a company's file of an older schema is
    migrated. `who` is the actor in the audit if no user is known.
    """
    ordered = OrderedClock(clock or SystemClock())
    abilities = abilities_in_force(settings.returns.require_write_ability)
    ids = ids or RandomIds()
    passwords = passwords or Passwords(ordered)

    def make_file(company_id: int, code: str) -> None:
        storage.need_space()
        files.create(company_id, code)

    session_uses = SessionUses()
    whitelist, damaged_indexes = Whitelist(abilities), DamagedIndexes()
    services: dict[type, object] = {
        Whitelist: whitelist,
        SignOnAccounts: SignOnAccounts(sign_on_store.has_any_account),
        Lifetimes: settings.sessions.lifetimes,
        SessionUses: session_uses,
        TokenLifetimes: TokenLifetimes(settings.tokens.lifetime_days, settings.tokens.most_days),
        CompanyFileMaker: CompanyFileMaker(make_file),
    }
    platform, secrets, installation, codes, marks = await open_platform(
        folder, ordered, ids, open_key(settings.server.key_file), services, alone, who
    )
    vault, guard = Vault(secrets["vault"]), new_guard(settings)
    files = CompanyFiles(
        folder.companies,
        ordered,
        ids,
        {
            Vault: vault,
            Guard: guard,
            Obstacles: OBSTACLES,
            Holdings: HOLDINGS,
            Dependents: DEPENDENTS,
            Whitelist: whitelist,
            DamagedIndexes: damaged_indexes,
        },
        folder.release_reserve,
        installation=installation,
        codes=codes,
        marks=marks,
        go_on=go_on,
        alone=alone,
        borrow=borrow,
        before_migration=before_migration,
    )
    demands_second_factor = settings.sessions.second_factor == "admins"
    failed_sign_ins = FailedSignIns(platform, ordered)
    second_step = SecondStepService(platform, ordered, ids, vault, failed_sign_ins)
    access, requests = (
        AccessCache(platform, ordered, settings.sessions.lifetimes, session_uses, demands_second_factor),
        RequestCounts(platform, ordered),
    )
    platform.after_commit = access.forget
    access.note_companies = files.note_companies
    history = RequestHistory(folder.requests, settings.requests, ordered, platform, abilities)
    freezes = Freezes()
    storage = Storage(folder, settings.storage.quota_megabytes, ordered)
    dispatcher = Dispatcher(
        settings=settings,
        clock=ordered,
        platform=platform,
        files=files,
        access=access,
        requests=requests,
        limiter=Limiter(),
        storage=storage,
        freezes=freezes,
        signer=CursorSigner(secrets["cursor"].encode()),
        services={
            SignInService: SignInService(
                platform,
                passwords,
                timedelta(days=settings.tokens.lifetime_days),
                abilities,
                second_step,
                demands_second_factor,
                failed_sign_ins,
            ),
            RequestHistory: history,
            SecondStepService: second_step,
        },
    )
    async with AsyncExitStack() as ends:  # closes all, even if one fails, so that no thread stays
        ends.push_async_callback(platform.close)
        ends.push_async_callback(files.close)
        ends.push_async_callback(_write_last, requests)
        ends.push_async_callback(dispatcher.record_audit.end)
        ends.push_async_callback(asyncio.to_thread, history.close)
        yield Installation(
            settings,
            folder,
            ordered,
            settings.server.zone,
            ids,
            platform,
            files,
            access,
            requests,
            HighWaterMarks(platform, files, ordered),
            passwords,
            abilities,
            dispatcher,
            vault,
            guard,
            storage,
            freezes,
            history,
            RequestMeasures(),
            failed_sign_ins,
            damaged_indexes,
        )
