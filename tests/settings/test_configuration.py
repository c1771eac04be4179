"""Settings: a flag wins over the environment, the environment over the file, and the file over the default. And
what `wmsd config check` tries.
"""

import json
import re
import tomllib
from typing import Any

import pytest

from tests.support.command import ANY_PORT, Home
from tests.support.forked import ROOT
from wmsd.settings.all_settings import Settings, declared_settings
from wmsd.settings.toml_writer import example
from wmsd.tenants.sign_on.providers import Provider, Rule

DEFAULTS: dict[str, dict[str, Any]] = {
    "server": {
        "listen": "127.0.0.1:8480",
        "data": "data",
        "key_file": "",
        "tls": "off",
        "certificate": "",
        "certificate_key": "",
        "hsts": False,
        "time_zone": "",
        "public_url": "",
        "trusted_proxies": [],
        "allow_origins": [],
        "connections": 4096,
        "connections_per_address": 512,
    },
    "limits": {
        "data_per_minute": 60,
        "sandbox_per_minute": 12,
        "graphql_per_minute": 30,
        "pages_per_minute": 600,
        "auth_per_minute": 10,
        "refused_per_minute": 120,
        "open_per_minute": 120,
    },
    "storage": {"quota_megabytes": 0, "memory_megabytes": 0},
    "tokens": {"lifetime_days": 90, "most_days": 3650},
    "sessions": {"idle_hours": 12, "most_days": 7, "second_factor": "optional"},
    "sign_on": {
        "allow_networks": [],
        "allow_ports": [80, 443],
        "allow_http": False,
        "ca_file": "",
        "providers": [],
    },
    "requests": {"keep": True, "megabytes": 50, "days": 7},
    "imports": {"megabytes": 100},
    "webhooks": {
        "allow_networks": [],
        "allow_ports": [80, 443],
        "allow_http": False,
        "ca_file": "",
        "proxy": "",
        "keep_answers": True,
    },
    "backup": {
        "folder": "data-backups",
        "every": "day",
        "at": "02:30",
        "keep_hourly": 24,
        "keep_daily": 7,
        "keep_weekly": 4,
        "passphrase_file": "",
        "after": "",
    },
    "replica": {"enabled": False},
    "returns": {"require_write_ability": False},
    "metrics": {"listen": "", "token_file": ""},
    "alerts": {
        "url": "",
        "secret_file": "",
        "allow_networks": [],
        "allow_ports": [80, 443],
        "allow_http": False,
        "ca_file": "",
        "command": [],
        "mail_to": [],
        "mail_from": "",
        "mail_relay": "",
        "mail_port": 587,
        "mail_tls": "starttls",
        "mail_user": "",
        "mail_password_file": "",
    },
    "log": {
        "format": "human",
        "level": "info",
        "local_time": False,
        "requests": True,
        "file": "",
        "file_megabytes": 10,
        "files": 5,
    },
}


def test_a_link_to_nothing_is_told_of(home: Home) -> None:
    (home.folder / "config.toml").symlink_to("/nowhere/wmsd.toml")
    assert home.refused("config", "check") == (
        "config.toml: this is a link to /nowhere/wmsd.toml, which does not exist."
    )


def test_names_of_the_guide_s_examples_are_no_settings(home: Home) -> None:
    examples = (ROOT / "wmsd/docs/examples.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\bWMSD_[A-Z]+", examples))
    assert names >= {"WMSD_URL", "WMSD_TOKEN", "WMSD_COMPANY"}
    home.ok("config", "check", env=dict.fromkeys(names, "1") | ANY_PORT)


def test_the_example_is_true() -> None:
    text = (ROOT / "config.example.toml").read_text(encoding="utf-8")
    assert text == example()
    assert tomllib.loads(text) == {section: {} for section in DEFAULTS}
    uncommented = tomllib.loads(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE))
    assert uncommented == DEFAULTS == Settings().model_dump()


def test_the_table_in_the_example_is_a_good_provider(home: Home) -> None:
    text = (ROOT / "config.example.toml").read_text(encoding="utf-8")
    table = "\n".join(line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   "))
    table = table.replace("create_users = false", "create_users = true")
    home.write("config.toml", table)
    assert home.ok("config", "check", env=ANY_PORT).err.splitlines()[-1] == "The settings have no errors."
    [provider] = tomllib.loads(table)["sign_on"]["providers"]
    assert set(provider) == set(Provider.model_fields)
    assert set(provider["rules"][0]) == set(Rule.model_fields)


PROVIDER = '[[sign_on.providers]]\nname = "main"\nissuer = "https://login.example.com"\nclient_id = "wmsd"\n'
RULE = '[[sign_on.providers.rules]]\nclaim = "groups"\nvalue = "a"\n'


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (PROVIDER.replace("main", "Main Street"), "sign_on.providers.0.name must have 1 to 32 lower-case letters"),
        (PROVIDER.replace("https://", "ldap://"), "sign_on.providers.0.issuer must be a URL without ? and #"),
        (PROVIDER.replace("client_id", "client"), "sign_on.providers.0.client_id is required."),
        (PROVIDER + PROVIDER, "sign_on.providers contains two providers with the name main."),
        (PROVIDER + "create_users = true\n", "sign_on.providers.0 has no rules, but create_users"),
        (PROVIDER + RULE, "sign_on.providers.0 has rules that are not used: set create_users or follow_rules."),
        (PROVIDER + 'client_secret = "a"\nclient_secret_file = "b"\n', "has both client_secret and client_secret"),
        (
            PROVIDER + 'scopes = ["email"]\n',
            (
                'sign_on.providers.0.scopes must be a list that includes "openid" and has scope names '
                "without spaces"
            ),
        ),
        (
            PROVIDER + RULE + 'role = "god"\n',
            "rules.0.role must be 'platform-admin', 'company-admin' or 'member'.",
        ),
        (
            PROVIDER + RULE + 'abilities = ["*"]\n',
            "sign_on.providers.0.rules.0.abilities contains '*', which is not an ability. Use one of the "
            "abilities",
        ),
        (PROVIDER + RULE + 'abilities = ["ofice"]\n', "or one of the ability sets office, warehouse, reads-only"),
        (
            PROVIDER + RULE + 'role = "platform-admin"\ncompanies = ["A"]\n',
            "rules.0 lists companies, but a platform",
        ),
        (
            PROVIDER + RULE + 'role = "company-admin"\nabilities = ["stock:read"]\n',
            "only the role member needs abilities",
        ),
        ('[sign_on]\nproviders = ["main"]\n', "sign_on.providers.0 must be a table."),
    ],
)
def test_a_wrong_provider_is_told(home: Home, written: str, says: str) -> None:
    home.write("config.toml", written)
    run = home.run("config", "check")
    assert (run.code, says in run.err) == (1, True), run.err


def test_providers_are_shown_without_their_secrets(home: Home) -> None:
    home.write("config.toml", PROVIDER + 'client_secret = "hush"\ncreate_users = true\n' + RULE + RULE)
    shown = home.ok("config", "show").out
    assert "hush" not in shown
    [provider] = tomllib.loads(shown)["sign_on"]["providers"]
    assert (provider["name"], provider["client_secret"], len(provider["rules"])) == ("main", "(not shown)", 2)
    assert "hush" not in home.ok("config", "show", "--json").out


def test_providers_are_no_text_of_the_environment(home: Home) -> None:
    run = home.run("config", "check", env={"WMSD_SIGN_ON_PROVIDERS": "main"})
    assert (run.code, "set it in the configuration file" in run.err) == (1, True)


def test_every_key_of_the_example_has_a_comment() -> None:
    lines = example().splitlines()
    for section, key, _ in declared_settings():
        (place,) = [
            number
            for number, line in enumerate(lines)
            if line.startswith(f"# {key} = ")
            and [s for s in lines[:number] if s.startswith("[")][-1] == f"[{section}]"
        ]
        assert re.fullmatch(r"# [\w].+\.", lines[place - 1]), lines[place]


def test_the_example_is_a_good_configuration(home: Home) -> None:
    home.write("config.toml", (ROOT / "config.example.toml").read_bytes())
    assert home.ok("config", "check", env=ANY_PORT).err.splitlines() == [
        f"Data folder: {home.data}",
        "Configuration file: config.toml",
        "The settings have no errors.",
    ]
    shown = home.ok("config", "show", "--json").json
    assert shown == {
        **DEFAULTS,
        "server": {**DEFAULTS["server"], "data": str(home.data)},
        "backup": {**DEFAULTS["backup"], "folder": f"{home.data}-backups"},
    }


def test_what_is_shown_is_a_configuration(home: Home) -> None:
    env = {
        "WMSD_SERVER_DATA": 'da"ta\\\n',
        "WMSD_WEBHOOKS_ALLOW_NETWORKS": "10.0.0.0/8, fd00::/8,",
        "WMSD_WEBHOOKS_ALLOW_PORTS": "8443, 8000-8999",
        "WMSD_WEBHOOKS_ALLOW_HTTP": "true",
    }
    shown = home.run("config", "show", env=env)
    assert shown.code == 0
    assert tomllib.loads(shown.out) == json.loads(home.run("config", "show", "--json", env=env).out)
    home.write("config.toml", shown.out)
    read = home.run("config", "show", "--json").json
    assert read["server"]["data"] == f'{home.folder}/da"ta\\\n'
    assert read["webhooks"] == {
        **DEFAULTS["webhooks"],
        "allow_networks": ["10.0.0.0/8", "fd00::/8"],
        "allow_ports": ["8443", "8000-8999"],
        "allow_http": True,
    }


def test_flag_over_environment_over_file_over_default(home: Home) -> None:
    def in_force(*arguments: str, **env: str) -> tuple[str, int]:
        shown = home.run("config", "show", "--json", *arguments, env=env).json
        return shown["server"]["data"].removeprefix(f"{home.folder}/"), shown["limits"]["data_per_minute"]

    assert in_force() == ("data", 60)
    home.write("config.toml", "[server]\ndata = 'of file'\n[limits]\ndata_per_minute = 1\n")
    assert in_force() == ("of file", 1)
    assert in_force(WMSD_LIMITS_DATA_PER_MINUTE="2") == ("of file", 2)
    assert in_force(WMSD_SERVER_DATA="of environment") == ("of environment", 1)
    assert in_force("--data", "of flag", WMSD_SERVER_DATA="of environment") == ("of flag", 1)
    home.write("other.toml", "[server]\ndata = 'of other'\n")
    assert in_force("--config", "other.toml") == ("of other", 60)
    assert in_force(WMSD_CONFIG="other.toml") == ("of other", 60)
    home.write("third.toml", "")
    assert in_force("--config", "third.toml", WMSD_CONFIG="other.toml") == ("data", 60)


def test_what_depends_on_each_other_may_come_from_different_sources(home: Home) -> None:
    home.write("config.toml", "[server]\ncertificate = 'a.pem'\n")
    shown = home.ok("config", "show", "--json", env={"WMSD_SERVER_TLS": "files"}).json
    assert (shown["server"]["tls"], shown["server"]["certificate"]) == ("files", f"{home.folder}/a.pem")
    home.write("config.toml", "[server]\ntls = 'files'\ncertificate = 'a.pem'\n")
    assert (
        home.refused("serve", "--tls", "off")
        == "the command line: [server] certificate works only with tls = files: set server.tls to files, "
        "or remove server.certificate."
    )
    assert not home.data.exists()


def test_a_mistake_of_several_settings_names_the_source_of_one_of_them(home: Home) -> None:
    """The error does not name the source of another key of the section."""
    home.write("bad.toml", "[server]\ntls = 'files'\n[tokens]\nmost_days = 30\n")
    given = ("config", "check", "--config", "bad.toml", "--data", "data")
    of_tls = "[server] tls = files needs a certificate: set server.certificate to its PEM file."
    assert home.refused(*given) == f"bad.toml: {of_tls}"
    assert home.refused(*given, env={"WMSD_SERVER_TLS": "files"}) == f"the environment: {of_tls}"
    of_tokens = (
        "tokens.lifetime_days is 90, but tokens.most_days is only 30. Set tokens.lifetime_days to 30 or less."
    )
    off = {"WMSD_SERVER_TLS": "off", "WMSD_METRICS_LISTEN": ""}
    assert home.refused(*given, env=off) == f"bad.toml: {of_tokens}"
    home.write("bad.toml", "[metrics]\nlisten = '127.0.0.1:8480'\n")
    assert home.refused(*given).startswith("bad.toml: metrics.listen and server.listen are both 127.0.0.1:8480.")


def test_backups_in_the_data_folder_are_no_mistake_but_warned_of(home: Home) -> None:
    home.data.mkdir()
    home.write("config.toml", "[backup]\nfolder = 'data/backups'\n")
    done = home.ok("config", "check", env=ANY_PORT)
    assert done.err.splitlines()[2:] == [
        f"Warning: The backup folder {home.data}/backups is in the data folder: if the data is lost, the "
        "backups are lost too.",
        "  Name a folder outside the data folder in backup.folder, preferably on another disk, and move "
        "the archives there.",
        "The settings can be used: 1 warning.",
    ]


def test_the_check_tries_what_the_settings_name(home: Home) -> None:
    """The check reports all problems together, says what to do about each, and writes nothing."""
    home.write("secret", "short")
    home.write(
        "config.toml",
        """
        [log]
        file = "logs/wmsd.log"
        [metrics]
        token_file = "secret"
        [alerts]
        command = ["no-such-program"]
        """,
    )
    before = sorted(home.folder.iterdir())
    done = home.run("config", "check", env=ANY_PORT)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[2:] == [
        f"Error: {home.folder}/secret, named in metrics.token_file, does not have the required content. "
        f"The file {home.folder}/secret must contain one secret of at least 20 characters, without spaces.",
        "  Correct the content of the file, or correct metrics.token_file.",
        f"Error: wmsd cannot write in {home.folder}/logs, named in log.file: no such file or directory.",
        "  Create the folder or mount its disk, allow the user that runs wmsd to write there, or "
        "correct log.file.",
        "Error: The program no-such-program, the first word of alerts.command, cannot be started: no "
        "such file or directory.",
        "  Install the program, allow the user that runs wmsd to execute it, or correct alerts.command.",
        "wmsd: The server cannot work fully with these settings: 3 errors.",
    ]
    assert sorted(home.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("listen", "data", "told"),
    [
        (
            "203.0.113.7:8480",
            "data",
            "wmsd cannot listen on 203.0.113.7:8480: this machine has no such address.",
        ),
        ("127.0.0.1:0", "none/data", "There is no folder {home}/none for the data folder data."),
        ("127.0.0.1:0", "config.toml", "config.toml is a file, not a data folder."),
        ("127.0.0.1:0", "/proc/data", "No server can use the data folder now. "),
    ],
)
def test_the_check_says_what_would_keep_a_start(home: Home, listen: str, data: str, told: str) -> None:
    home.write("config.toml", f"[server]\nlisten = '{listen}'\ndata = '{data}'\n")
    before = sorted(home.folder.iterdir())
    checked = home.run("config", "check")
    assert (checked.code, checked.err.count("Error: ")) == (1, 1)
    assert told.format(home=home.folder) in checked.err
    assert sorted(home.folder.iterdir()) == before


def test_the_doctor_finds_the_same(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    env = {"WMSD_ALERTS_SECRET_FILE": "none", "WMSD_BACKUP_AFTER": "/no/program $ARCHIVE", **ANY_PORT}
    checked = home.run("config", "check", env=env)
    examined = home.run("doctor", env=env)
    found = [line for line in checked.err.splitlines() if line.startswith(("Error: ", "  "))]
    assert len(found) == 4
    assert [line for line in examined.out.splitlines() if line in found] == found
    assert (checked.code, examined.code) == (1, 1)
