"""What a user may do, and why."""

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.rendering import render_page
from wmsd.interfaces.pages.kit.session_door import Door
from wmsd.interfaces.pages.kit.workplace import workplace
from wmsd.tenants.accounts import user_administration as users


class Rights:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        at = await workplace(self._door, request)
        path = {"id": request.match_info["id"]}
        user = await at.need(users.get_user_record, path=path)
        rights = await at.need(users.get_user_rights, path=path, is_counted=True)
        return render_page("rights", person=at.person, at=at, current="users", user=user, rights=rights)
