"""The source of a setting, down to the line of the file."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.platform.admin_view import settings as shown_settings
from wmsd.platform.admin_view.settings import Origin, line_of, origin_of
from wmsd.settings.all_settings import Settings, declared_settings
from wmsd.settings.sources import layers_of, settings_of
from wmsd.tenants.sign_on.providers import NOT_SHOWN

FILE = """\
# server.listen = "0.0.0.0:1"
[server]
listen = "0.0.0.0:8481"   # [limits]
trusted_proxies = [
  "10.0.0.0/8",
]
"connections" = 100

[webhooks]
allow_http = true
[sign_on]
allow_http = true

[[sign_on.providers]]
name = "company"
issuer = "https://login.example.com"
client_id = "wmsd"
client_secret = "very secret"
"""
LINES = {
    "server.listen": 3,
    "server.trusted_proxies": 4,
    "server.connections": 7,
    "webhooks.allow_http": 10,
    "sign_on.allow_http": 12,
    "sign_on.providers": 14,
}


@pytest.mark.parametrize(("name", "line"), LINES.items())
def test_the_line_that_sets_it(name: str, line: int) -> None:
    section, _, key = name.partition(".")
    assert line_of(FILE, section, key) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('backup.after = "x"', 1),
        ("\n\n[backup]\n  after='x'", 4),
        ('[backup]\nfolder = """\nafter = 1\n"""\nafter = "x"', 5),
        ('backup = { after = "x" }', 1),
        ('[backup]\nafterwards = "y"', None),
        ("", None),
        ("[backup]\nafter = ", None),
    ],
)
def test_however_it_is_written(text: str, line: int | None) -> None:
    assert line_of(text, "backup", "after") == line


@given(
    st.lists(
        st.sampled_from(["[a]", "[b]", "k = 1", "k = 2", "x = '''", "'''", "k = [", "]", "", "# k = 1"]),
        max_size=12,
    )
)
def test_a_line_is_told_only_if_it_sets_the_key(lines: list[str]) -> None:
    line = line_of("\n".join(lines), "a", "k")
    if line is None:
        return
    before = tomllib.loads("\n".join(lines[: line - 1]))
    assert "k" not in before.get("a", {})
    assert any(
        "k" in found.get("a", {})
        for end in range(line, len(lines) + 1)
        if (found := _parsed(lines[:end])) is not None
    )


def _parsed(lines: list[str]) -> dict[str, dict[str, object]] | None:
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def test_the_last_layer_counts(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(FILE)
    flags, environment = {("server", "listen"): "127.0.0.1:1"}, {"WMSD_WEBHOOKS_ALLOW_HTTP": "false"}
    layers = layers_of(file, flags, environment)
    assert origin_of(layers, "server", "listen") == Origin("command line", "--listen")
    assert origin_of(layers, "webhooks", "allow_http") == Origin("environment", "WMSD_WEBHOOKS_ALLOW_HTTP")
    assert origin_of(layers, "sign_on", "allow_http") == Origin("file", str(file), 12)
    assert origin_of(layers, "log", "level") == Origin("default")


def test_every_setting_is_shown_and_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'{FILE}\n[backup]\nafter = "curl https://me:pass@example.com/?token=abc"\n')
    layers = layers_of(file, None, {})
    found = shown_settings.settings_as_json(settings_of(layers), layers)
    assert [each["name"] for each in found["data"]] == [
        f"{section}.{key}" for section, key, _ in declared_settings()
    ]
    assert all(each["says"] for each in found["data"])
    values = {each["name"]: each["value"] for each in found["data"]}
    assert NOT_SHOWN in values["sign_on.providers"]
    for secret in ("very secret", "pass@", "abc"):
        assert secret not in str(found)
    assert values["server.listen"] == '"0.0.0.0:8481"'
    assert found["file"] == str(file)


def test_what_is_read_each_time_is_only_of_the_backups() -> None:
    found = shown_settings.settings_as_json(Settings(), ())
    anew = {each["name"] for each in found["data"] if each["read"] == "each time"}
    assert anew == {
        "backup.after",
        "backup.keep_daily",
        "backup.keep_hourly",
        "backup.keep_weekly",
        "backup.passphrase_file",
    }
    assert {each["source"] for each in found["data"]} == {"default"}
