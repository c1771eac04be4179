"""The effect of a stop of the server on open pages."""

import http.client
from contextlib import closing
from urllib.parse import urlencode

from tests.support.command import EMAIL, PASSWORD, Home, Server


def test_a_stop_ends_the_streams_of_open_pages(shared: Home) -> None:
    with shared.serving() as server:
        with closing(_connection(server)) as signing_in:
            form = urlencode({"email": EMAIL, "password": PASSWORD})
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
            signing_in.request("POST", "/sign-in", form, headers)
            cookie = signing_in.getresponse().headers["Set-Cookie"].partition(";")[0]
        with closing(_connection(server)) as connection:
            connection.request("GET", "/live", headers={"Cookie": cookie})
            stream = connection.getresponse()
            assert stream.readline().startswith(b"data: ")
            assert server.stop() == 0
            stream.read()  # this raises IncompleteRead if the stream was cut
        assert "Traceback" not in server.log


def _connection(server: Server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=60)
