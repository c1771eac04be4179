"""Errors in the settings: the diagnostic commands still work, and report the errors."""

import json
from typing import Any

import pytest

from tests.maintenance.support_bundle.test_support_bundle import unpacked
from tests.support.command import Home
from wmsd.settings.sources import read_partial_settings, settings_of

TYPED = "server.lisen is not a setting; did you mean server.listen?"
MISTAKEN = """
[server]
lisen = "0.0.0.0:9999"
data = "elsewhere"
[alerts]
url = "https://alerts.example.com/hush-4711"
command = "hush-4712"
[log]
file = "wmsd.log"
"""


def bundled(home: Home) -> tuple[dict[str, str], str]:
    """Return the parts of a support bundle, and the messages of the command."""
    done = home.run("support-bundle", "help.tar.gz", "--quick")
    assert done.code == 0, done.err
    return unpacked(home.folder / "help.tar.gz"), done.err


def test_the_bundle_is_written_with_the_mistakes_in_it_and_without_secrets(home: Home) -> None:
    assert home.run("company", "create", "ACME", "--name", "Acme", "--init", "--data", "elsewhere").code == 0
    home.write("config.toml", MISTAKEN)
    home.write("wmsd.log", "2026-11-24T12:00:00.000Z INFO serving\n")
    parts, said = bundled(home)
    assert f"Error in the settings: config.toml: {TYPED}" in said
    settings = json.loads(parts["settings.json"])
    assert settings["mistakes"] == [
        f"config.toml: {TYPED}",
        'config.toml: alerts.command must be a list, such as ["a", "b"].',
        "config.toml: [alerts] url needs a secret that signs the alerts: set alerts.secret_file to the "
        "file with the secret.",
    ]
    shown = {each["name"]: each["value"] for each in settings["data"]}
    assert (shown["server.data"], shown["log.file"]) == (
        f'"{home.folder}/elsewhere"',
        f'"{home.folder}/wmsd.log"',
    )
    assert "serving" in parts["log.txt"]
    found = json.loads(parts["doctor.json"])["installation"]
    assert "settings-mistaken" in [each["check"] for each in found]
    assert json.loads(parts["companies.json"])[0]["is_known"]
    assert not [name for name, text in parts.items() if "hush" in text]


def test_the_log_is_shown_with_what_can_be_read(home: Home) -> None:
    home.write("config.toml", MISTAKEN)
    home.write("wmsd.log", "2026-11-24 12:00:00 info    serving\n")
    done = home.run("logs")
    assert (done.out, f"config.toml: {TYPED}" in done.err) == ("2026-11-24 12:00:00 info    serving\n", True)


def test_the_doctor_examines_with_what_can_be_read_and_tells_the_mistake(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    home.write("config.toml", "[log]\nlevel = loud\n")
    done = home.run("doctor", "--json")
    [*files, installation] = done.json
    assert (done.code, [each["ok"] for each in files]) == (1, [True, True])
    [mistake] = [each for each in installation["installation"] if each["check"] == "settings-mistaken"]
    assert mistake["sentence"].startswith(
        "There is an error in the settings. config.toml: line 2 cannot be read: write a text in straight"
    )
    assert (home.folder / "config.toml").read_text() == "[log]\nlevel = loud\n"
    home.write("config.toml", "[log]\nlevel = 'info'\n")
    assert "settings-mistaken" not in home.run("doctor", "--json").out


def test_a_bundle_of_settings_that_cannot_be_read_at_all(home: Home) -> None:
    home.write("config.toml", b"\xff\xfe")
    parts, said = bundled(home)
    assert json.loads(parts["settings.json"])["mistakes"] == ["config.toml: this is not UTF-8 text."]
    assert json.loads(parts["version.json"])["server"] is None
    assert "Error in the settings: config.toml: this is not UTF-8 text." in said


def read_of(home: Home, text: str, environment: dict[str, str] | None = None) -> tuple[dict[str, Any], list[str]]:
    home.write("config.toml", text)
    settings, layers, wrong = read_partial_settings(home.folder / "config.toml", {}, environment or {})
    values = {section: keys for layer in layers for section, keys in layer.values.items() if keys}
    assert settings == settings_of(layers)
    return values, [sentence.removeprefix(f"{home.folder}/config.toml: ") for sentence in wrong]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "[server]\nlisten = 1\ndata = 'd'\n[log]\nlevel = 'loud'\nfiles = 3",
            {"server": {"data": "d"}, "log": {"files": 3}},
        ),
        ("[server]\ndata = 'd'\n[tokens]\nmost_days = 30", {"server": {"data": "d"}}),
        ("[tokens]\nmost_days = 95\nlifetime_days = 100", {}),
        ("[server]\ntls = 'files'\ndata = 'd'", {"server": {"data": "d"}}),
        ("listen = 'x'\n[servr]\na = 1\n[server]\ndata = 'd'", {"server": {"data": "d"}}),
        (
            "[server]\ndata = 'd'\nlisten = x\n[webhooks]\nallow_networks = [\n a,\n b,\n]\n[log]\nfiles = 3",
            {"server": {"data": "d"}, "log": {"files": 3}},
        ),
        ("no settings\n" * 50, {}),
    ],
)
def test_what_is_right_is_taken(home: Home, text: str, values: dict[str, Any]) -> None:
    found, wrong = read_of(home, text)
    assert found == values
    assert wrong


def test_variables_that_are_wrong_are_told_together(home: Home) -> None:
    environment = {"WMSD_SERVR_DATA": "x", "WMSD_LOG_LEVEL": "loud", "WMSD_LOG_FILES": "3"}
    values, wrong = read_of(home, "[server]\ndata = 'd'\n", environment)
    assert values == {"server": {"data": "d"}, "log": {"files": "3"}}
    assert [sentence.split()[2] for sentence in wrong] == ["WMSD_SERVR_DATA", "log.level"]
