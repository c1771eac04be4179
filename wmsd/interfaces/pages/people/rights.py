"""The page about the rights of a user: what the user may do, and why."""

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.tenants.accounts import user_administration


async def show(at: Workplace, request: web.Request) -> web.Response:
    path = {"id": request.match_info["id"]}
    user = await at.need(user_administration.get_user_record, path=path)
    rights = await at.need(user_administration.get_user_rights, path=path, is_counted=True)
    return page_of(at, "rights", "users", user=user, rights=rights)
