"""What a user may do, and why."""

from wmsd.accounts import user_administration as users
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages.door import Door
from wmsd.interfaces.pages.rendering import page
from wmsd.interfaces.pages.workplace import workplace


class Rights:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def show(self, request: web.Request) -> web.Response:
        at = await workplace(self._door, request)
        path = {"id": request.match_info["id"]}
        user = await at.need(users.get_user_record, path=path)
        rights = await at.need(users.get_user_rights, path=path, is_counted=True)
        return page("rights", person=at.person, at=at, current="users", user=user, rights=rights)
