"""The errors for wrong settings in a file, in the environment and on the command line."""

import pytest

from tests.support.command import ANY_PORT, Home

BARE = ", without quotation marks."
WHOLE = "limits.data_per_minute must be a whole number without quotation marks, as in data_per_minute = 60."
LISTEN = 'server.listen must be a text in quotation marks, as in listen = "127.0.0.1:8480".'
LIST = 'must be a list, such as ["a", "b"].'
PROXY = "must be http://HOST:PORT, such as http://proxy.example.com:3128, without a password."
NO_PORT = 'but each entry must be a port, such as 8443, or a range, such as "8000-8999".'


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("[server]\nlisen = 'x'", ["server.lisen is not a setting; did you mean server.listen?"]),
        (
            "[limits]\ndata_per_min = 1",
            ["limits.data_per_min is not a setting; did you mean limits.data_per_minute?"],
        ),
        ("[server]\nport = 8480", ["server.port is not a setting; did you mean server.listen?"]),
        ("[metrics]\nhost = 'x'", ["metrics.host is not a setting; did you mean metrics.listen?"]),
        (
            "[server]\nlisen = 'x'\ndatta = 'y'",
            [
                "server.lisen is not a setting; did you mean server.listen?",
                "server.datta is not a setting; did you mean server.data?",
            ],
        ),
        ("[server]\ntls = 'on'", ["server.tls must be off, lan or files."]),
        ("[server]\ntls = 'LAN'", ["server.tls must be off, lan or files."]),
        ("[servr]\nlisten = 'x'", ["[servr] is not a section; did you mean server?"]),
        ("[Server]\nlisten = 'x'", ["[Server] is not a section; did you mean server?"]),
        ("[zzz]\nq = 1", ["[zzz] is not a section."]),
        ("listen = '127.0.0.1:1'", ["listen is not in a section; did you mean server.listen?"]),
        (
            "[server]\nlisten = 8480",
            [LISTEN],
        ),
        (
            "[server]\nlisten = '8480'\ndata = ''",
            [
                "server.listen must be HOST:PORT, such as 127.0.0.1:8480, with a port up to 65535.",
                "server.data must have at least 1 character.",
            ],
        ),
        (
            "[server]\nlisten = 'x:65536'",
            ["server.listen must be HOST:PORT, such as 127.0.0.1:8480, with a port up to 65535."],
        ),
        ("[limits]\ndata_per_minute = true", [WHOLE]),
        ("[limits]\ndata_per_minute = '60'", [WHOLE]),
        ("[limits]\ndata_per_minute = 6.5", [WHOLE]),
        ("[limits]\ndata_per_minute = 0", ["limits.data_per_minute must be at least 1."]),
        ("[tokens]\nlifetime_days = 36501", ["tokens.lifetime_days must be at most 36500."]),
        ("[tokens]\nmost_days = 0", ["tokens.most_days must be at least 1."]),
        ("[webhooks]\nallow_http = 1", [f"webhooks.allow_http must be true or false{BARE}"]),
        ("[webhooks]\nallow_networks = '10.0.0.0/8'", [f"webhooks.allow_networks {LIST}"]),
        (
            "[webhooks]\nallow_networks = ['10.0.0.1/8']",
            [
                "webhooks.allow_networks contains '10.0.0.1/8', which is not a network: 10.0.0.1/8 has host "
                "bits set."
            ],
        ),
        ("[webhooks]\nallow_ports = 443", [f"webhooks.allow_ports {LIST}"]),
        ("[webhooks]\nallow_ports = [443, '80-79']", [f"webhooks.allow_ports contains '80-79', {NO_PORT}"]),
        ("[webhooks]\nallow_ports = [0]", [f"webhooks.allow_ports contains 0, {NO_PORT}"]),
        ("[webhooks]\nallow_ports = ['65535-65536']", [f"webhooks.allow_ports contains '65535-65536', {NO_PORT}"]),
        ("[webhooks]\nallow_ports = [true]", [f"webhooks.allow_ports contains True, {NO_PORT}"]),
        ("[webhooks]\nproxy = 'https://proxy.lan:3128'", [f"webhooks.proxy {PROXY}"]),
        ("[webhooks]\nproxy = 'http://user:secret@proxy.lan:3128'", [f"webhooks.proxy {PROXY}"]),
        ("[webhooks]\nkeep_answers = 'no'", [f"webhooks.keep_answers must be true or false{BARE}"]),
        ("[log]\nformat = 'xml'", ["log.format must be 'human' or 'json'."]),
        (
            "[server]\nlisten = 1\n[log]\nlevel = 'loud'",
            [
                LISTEN,
                "log.level must be 'debug', 'info', 'warning' or 'error'.",
            ],
        ),
    ],
)
def test_a_wrong_setting_in_a_file(home: Home, text: str, sentences: list[str]) -> None:
    home.write("config.toml", text)
    expected = [f"config.toml: {sentence}" for sentence in sentences]
    for command in (("config", "check"), ("config", "show"), ("company", "list"), ("serve",)):
        assert home.refusals(*command) == expected
    assert not home.data.exists()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("WMSD_SERVR_LISTEN", "x", "WMSD_SERVR_LISTEN is not a setting; did you mean WMSD_SERVER_LISTEN?"),
        ("WMSD_DATA", "x", "WMSD_DATA is not a setting; did you mean WMSD_SERVER_DATA?"),
        ("WMSD_server_data", "x", "WMSD_server_data is not a setting; did you mean WMSD_SERVER_DATA?"),
        ("WMSD_SERVER_PORT", "8480", "WMSD_SERVER_PORT is not a setting; did you mean WMSD_SERVER_LISTEN?"),
        ("WMSD_TLS", "lan", "WMSD_TLS is not a setting; did you mean WMSD_SERVER_TLS?"),
        ("WMSD_PORT", "8480", "WMSD_PORT is not a setting; did you mean WMSD_SERVER_LISTEN?"),
        ("WMSD_LIMITS_DATA_PER_MINUTE", "many", "limits.data_per_minute must be a whole number."),
        ("WMSD_LIMITS_DATA_PER_MINUTE", "", "limits.data_per_minute must be a whole number."),
        ("WMSD_LIMITS_DATA_PER_MINUTE", "-1", "limits.data_per_minute must be at least 1."),
        ("WMSD_SERVER_DATA", "", "server.data must have at least 1 character."),
        (
            *("WMSD_SERVER_TIME_ZONE", "bucuresti"),
            "server.time_zone is not known; the nearest is Europe/Bucharest.",
        ),
        (
            *("WMSD_SERVER_TIME_ZONE", "+02:00"),
            "server.time_zone is not known; write one such as Europe/Bucharest.",
        ),
        ("WMSD_WEBHOOKS_ALLOW_HTTP", "maybe", "webhooks.allow_http must be true or false."),
    ],
)
def test_a_wrong_setting_in_the_environment(home: Home, name: str, value: str, sentence: str) -> None:
    assert home.refused("config", "check", env={name: value}) == f"the environment: {sentence}"


OF_A_SERVICE = {
    "{}_SERVICE_HOST": "10.0.0.7",
    "{}_SERVICE_PORT": "8480",
    "{}_SERVICE_PORT_HTTP": "8480",
    "{}_PORT": "tcp://10.0.0.7:8480",
    "{}_PORT_8480_TCP": "tcp://10.0.0.7:8480",
    "{}_PORT_8480_TCP_PROTO": "tcp",
    "{}_PORT_8480_TCP_PORT": "8480",
    "{}_PORT_8480_TCP_ADDR": "10.0.0.7",
    "{}_PORT_53_UDP_ADDR": "10.0.0.7",
}


@pytest.mark.parametrize("service", ["WMSD", "WMSD_SERVER", "WMSD_WEB"])
def test_what_a_cluster_sets_for_a_service_of_the_name_is_no_setting(home: Home, service: str) -> None:
    injected = {name.format(service): text for name, text in OF_A_SERVICE.items()}
    run = home.run("config", "check", env={**injected, **ANY_PORT})
    assert run.code == 0
    assert f"The cluster has set {', '.join(sorted(injected))} for a service with this name." in run.err


def test_a_variable_that_is_like_no_setting_is_told_and_ignored(home: Home) -> None:
    run = home.run("config", "check", env={"WMSD_VERSION": "1.2", "WMSD_GIT_SHA": "0123", **ANY_PORT})
    assert run.code == 0
    assert (
        "wmsd ignores these environment variables, because they are not settings: WMSD_GIT_SHA, WMSD_VERSION."
    ) in run.err


def test_a_proxy_of_the_environment_is_told_and_not_used(home: Home) -> None:
    environment = {"HTTPS_PROXY": "http://proxy.lan:3128", **ANY_PORT}
    sentence = "wmsd ignores the proxy of the environment (HTTPS_PROXY). To send webhooks through a proxy, set "
    assert f"{sentence}webhooks.proxy." in home.run("config", "check", env=environment).err
    chosen = {**environment, "WMSD_WEBHOOKS_PROXY": "http://proxy.lan:3128"}
    assert "HTTPS_PROXY" not in home.run("config", "check", env=chosen).err


def test_a_token_lasts_no_longer_than_the_most(home: Home) -> None:
    home.write("config.toml", "[tokens]\nmost_days = 30")
    sentence = (
        "tokens.lifetime_days is 90, but tokens.most_days is only 30. Set tokens.lifetime_days to 30 or less."
    )
    for command in (("config", "check"), ("serve",), ("company", "list")):
        assert home.refused(*command).endswith(f"config.toml: {sentence}")
    assert not home.data.exists()
    home.ok("config", "check", env={"WMSD_TOKENS_LIFETIME_DAYS": "30", **ANY_PORT})


def test_metrics_have_a_port_of_their_own(home: Home) -> None:
    env = {"WMSD_METRICS_LISTEN": "127.0.0.1:8480"}
    for command in (("config", "check"), ("serve",)):
        assert (
            home.run(*command, env=env)
            .err.splitlines()[-1]
            .startswith(
                "wmsd: the environment: metrics.listen and server.listen are both 127.0.0.1:8480. Give "
                "metrics.listen another port"
            )
        )
    assert not home.data.exists()


def test_a_wrong_setting_on_the_command_line(home: Home) -> None:
    assert home.refused("serve", "--listen", "8480").startswith(
        "the command line: server.listen must be HOST:PORT"
    )
    assert home.refused("serve", "--listen", "").startswith("the command line: server.listen must be HOST:PORT")
    assert home.refused("company", "list", "--data", "") == (
        "the command line: server.data must have at least 1 character."
    )


def test_a_file_as_a_windows_editor_saves_it(home: Home) -> None:
    home.write("config.toml", b"\xef\xbb\xbf[tokens]\r\nlifetime_days = 7\r\n")
    assert home.ok("config", "show", "--json").json["tokens"]["lifetime_days"] == 7


def test_a_file_that_cannot_be_read(home: Home) -> None:
    for command in (("config", "check"), ("serve",), ("company", "list")):
        assert home.refused(*command, "--config", "none.toml") == "none.toml: there is no such file."
    assert home.refused("config", "check", env={"WMSD_CONFIG": "none.toml"}) == "none.toml: there is no such file."
    home.write("config.toml", "[server]\ndata = 'caf\xe9'".encode("latin-1"))
    assert home.refused("config", "check") == "config.toml: this is not UTF-8 text."
    home.write("config.toml", "[server]\ndata = 'a'\ndata = 'b'")
    twice = "config.toml: line 3 repeats {}. Keep only one of the two."
    assert home.refused("config", "check") == twice.format("data")
    home.write("config.toml", "[server]\ndata = 'a'\n[server]\nlisten = 'b'")
    assert home.refused("config", "check") == twice.format("[server]")
    home.write("config.toml", "[server]\ndata = 'a'\ndata.b = 'b'")
    assert home.refused("config", "check") == twice.format("data.b")
    home.write("config.toml", "[server]\ntrusted_proxies = []\ntrusted_proxies = [\n  '10.0.0.1',\n]\n")
    assert home.refused("config", "check") == twice.format("trusted_proxies")
    assert home.refused("config", "check", "--config", ".") == ".: Is a directory."
    assert not home.data.exists()


STRAIGHT = (
    'write a text in straight quotation marks, as in {} = "{}". Only numbers, true and false need no quotation '
    "marks."
)
UNENDED = "the text of {} has no closing quotation mark."
LISTED = 'write each text of a list in quotation marks, with commas between the texts, as in {0} = ["…", "…"].'


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[server\nlisten = 1", 1, "write the name of a section in brackets, as in [server]."),
        ("[server]\nlisten = 127.0.0.1:8480", 2, STRAIGHT.format("listen", "127.0.0.1:8480")),
        ("[server]\ntls = lan", 2, STRAIGHT.format("tls", "lan")),
        ("[server]\ndata = /srv/x\n[log]\nlevel = 'info'", 2, STRAIGHT.format("data", "/srv/x")),
        ("[server]\ndata = „x”", 2, STRAIGHT.format("data", "…")),
        ("[backup]\nat = 02:30", 2, STRAIGHT.format("at", "02:30")),
        ("[server]\ndata = 'a", 2, UNENDED.format("data")),
        ('[server]\ndata = "a\nlisten = "x:1"', 2, UNENDED.format("data")),
        ("[webhooks]\nallow_networks = [10.0.0.0/8]", 2, LISTED.format("allow_networks")),
        ('[webhooks]\nallow_networks = [\n  "a",\n  b,\n]', 2, LISTED.format("allow_networks")),
        ("[server]\nlisten 'x:1'", 2, 'write a setting as in listen = "127.0.0.1:8480".'),
        (
            '[backup]\nafter = "cp "$ARCHIVE" x"',
            2,
            "there is more after the text of after. Write a text that contains quotation marks in '''…'''.",
        ),
        ("[log]\nlocal_time = yes", 2, "local_time is true or false. Write local_time = true"),
        ("[log]\nlocal_time = False # so", 2, "local_time is true or false. Write local_time = false"),
        ("[server]\ntls = off", 2, STRAIGHT.format("tls", "off")),
        ("[log]\nlocal_time = off", 2, "local_time is true or false. Write local_time = false"),
        ("[log]\nlocal_time = maybe", 2, "local_time is true or false. Write local_time = false"),
        ("[backup]\nkeep_daily = 7,5", 2, "keep_daily is a whole number, as in keep_daily = 7"),
        ("[backup]\nkeep_daily = seven", 2, "keep_daily is a whole number, as in keep_daily = 7"),
        ("[server]\ntrusted_proxies = 10.0.0.0/8", 2, LISTED.format("trusted_proxies")),
        ("[servr]\nkeep_daily = seven", 2, STRAIGHT.format("keep_daily", "seven")),
        ("[server]\n\nlisten =\n", 3, "listen has no value. Write a value after the =, or remove the line."),
    ],
)
def test_a_line_that_is_no_toml(home: Home, text: str, line: int, says: str) -> None:
    home.write("config.toml", text)
    assert home.refused("config", "check") == f"config.toml: line {line} cannot be read: {says}"
