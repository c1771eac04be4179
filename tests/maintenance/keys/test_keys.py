"""`wmsd key`: the keys of an installation, sealed with a secret that is stored elsewhere."""

import stat
from pathlib import Path

import pytest

from tests.support.borrowing import borrowed
from tests.support.command import Home, Server, at_a_terminal, first_day, hashes

SECRETS = "SELECT secret FROM signing_keys UNION ALL SELECT value FROM secrets WHERE name IN ('cursor', 'vault')"
SET_IT = "Set server.key_file to the file that `wmsd key move` created."


def kept(home: Home) -> list[str]:
    """Return the signing keys and secrets as they are stored in platform.db. A running server lends the file."""
    with borrowed(home.data, "platform.db") as connection:
        return [row[0] for row in connection.execute(SECRETS)]


def in_files(home: Home, text: str) -> list[str]:
    return [file.name for file in home.data.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


def secrets_of(key: Path) -> list[str]:
    return [line for line in key.read_text().splitlines() if not line.startswith("#")]


def use(home: Home, key: str | Path) -> None:
    home.write("config.toml", f'[server]\nkey_file = "{key}"\n')


@pytest.fixture
def moved(home: Home) -> Path:
    """Return the key file of a home whose keys are sealed."""
    first_day(home)
    key = home.folder / "wmsd.key"
    home.ok("key", "move", key)
    use(home, key)
    return key


def answers(home: Home) -> None:
    """Check that a server accepts the token from the first day, and returns cursors."""
    with home.serving() as server:
        assert server.get("/api/articles/sync")[0] == 200


def test_moved_keys_are_nowhere_in_the_data_folder(home: Home) -> None:
    first_day(home)
    home.ok("token", "rotate-key", "--yes")
    clear = kept(home)
    assert len(clear) == 4
    assert all(in_files(home, text) for text in clear)
    done = home.ok("key", "move", "wmsd.key")
    key = home.folder / "wmsd.key"
    assert done.out == f'key_file = "{key}"\n'
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [in_files(home, text) for text in (*clear, *secrets_of(key))] == [[]] * 5
    home.write("config.toml", f"[server]\n{done.out}")
    answers(home)


def test_a_sealed_data_folder_is_nothing_without_its_key(home: Home, moved: Path) -> None:
    before = hashes(home.data)
    secret = moved.read_text()
    use(home, "")
    for command in (("user", "list"), ("serve", "--listen", "127.0.0.1:0")):
        assert home.refused(*command) == f"The keys in platform.db are encrypted, but no key file is set. {SET_IT}"
    use(home, moved)
    moved.write_text("another secret\n")
    wrong = f"The keys in platform.db are not encrypted with the secret in {moved}. "
    assert home.refused("user", "list").startswith(wrong)
    for content, why in (
        (b"", "it contains no secret"),
        (b"# \n\n", "it contains no secret"),
        (b"\xff", "it is not text"),
    ):
        moved.write_bytes(content)
        assert home.refused("user", "list").startswith(
            f"The key file {moved} (server.key_file) cannot be used: {why}."
        )
    moved.unlink()
    assert "cannot be used: no such file or directory. Put the file back" in home.refused("user", "list")
    moved.mkdir()
    assert "cannot be used: is a directory." in home.refused("user", "list")
    moved.rmdir()
    assert hashes(home.data) == before
    moved.write_text(secret)
    answers(home)


def test_a_key_file_that_others_can_read_is_told_of(home: Home, moved: Path) -> None:
    moved.chmod(0o640)
    assert f"{moved} can be read by other users than its owner: chmod 600 {moved}" in home.ok("user", "list").err
    moved.chmod(0o600)
    assert "by other users" not in home.ok("user", "list").err


def test_where_a_key_file_may_not_be(home: Home) -> None:
    first_day(home)
    home.write("there", "as it is")
    before = hashes(home.folder)
    inside = home.data / "companies" / "wmsd.key"
    link = home.folder / "link"
    link.symlink_to(home.data)
    for file in (inside, link / "wmsd.key"):
        assert home.refused("key", "move", file).startswith(f"{file} is in the data folder")
    link.unlink()
    assert home.refused("key", "move", "there").startswith("there already exists, and was not changed.")
    assert home.refused("key", "move", "no/such/folder").startswith(
        "The key file no/such/folder cannot be written"
    )
    assert home.misunderstood("key", "move") == "Error: Give either FILE or --back."
    assert home.misunderstood("key", "move", "x", "--back") == "Error: Give either FILE or --back."
    assert hashes(home.folder) == before


def test_keys_are_not_moved_beside_a_server(home: Home) -> None:
    first_day(home)
    before = kept(home)
    with home.serving():
        assert "Stop that wmsd first" in home.refused("key", "move", "wmsd.key")
    assert kept(home) == before
    assert not (home.folder / "wmsd.key").exists()


def test_keys_are_moved_on_and_back(home: Home, moved: Path) -> None:
    further = home.folder / "further.key"
    home.ok("key", "move", further)
    assert home.refused("user", "list").startswith("The keys in platform.db are not encrypted with the secret in")
    use(home, further)
    moved.unlink()
    answers(home)
    assert home.ok("key", "move", "--back").out == 'key_file = ""\n'
    use(home, "")
    further.unlink()
    answers(home)


def test_a_new_installation_seals_its_keys_from_the_beginning(home: Home) -> None:
    key = home.write("wmsd.key", "a secret that somebody else made\n")
    key.chmod(0o600)
    use(home, key)
    first_day(home)
    assert all(text.startswith("sealed:") for text in kept(home))
    answers(home)


def test_keys_in_clear_beside_a_key_file_are_told_of(home: Home) -> None:
    first_day(home)
    home.write("wmsd.key", "a secret\n").chmod(0o600)
    use(home, home.folder / "wmsd.key")
    assert "platform.db are not encrypted: `wmsd key move FILE` encrypts them" in home.ok("user", "list").err


def test_a_rotated_key_has_a_new_secret_and_a_running_server_follows(home: Home, moved: Path) -> None:
    before, sealed = secrets_of(moved), kept(home)
    with home.serving() as server:
        assert server.get("/api/articles")[0] == 200
        home.ok("key", "rotate")
        (secret,) = secrets_of(moved)
        assert [secret] != before
        assert stat.S_IMODE(moved.stat().st_mode) == 0o600
        assert not set(sealed) & set(kept(home))
        signed_with_the_new_key(home, server)
        assert server.get("/api/articles")[0] == 200, "the key before it is still accepted"
        home.ok("key", "rotate")
        server.soon("/api/articles", lambda status, _: status == 401)
    moved.write_text("\n".join(before))
    assert home.refused("user", "list").startswith("The keys in platform.db are not encrypted with the secret in")


def signed_with_the_new_key(home: Home, server: Server) -> None:
    token = home.ok("token", "create", "--user", "admin@example.com", "--ability", "*").out.strip()
    server.soon("/api/articles", lambda status, _: status == 200, token=token)


@pytest.mark.parametrize("stopped", ["before the keys were sealed anew", "after it"])
def test_a_rotation_that_was_cut_off_leaves_a_usable_pair(home: Home, moved: Path, stopped: str) -> None:
    (old,) = secrets_of(moved)
    if stopped == "after it":
        home.ok("key", "rotate")
        moved.write_text("\n".join([old, *secrets_of(moved)]))
    else:
        moved.write_text(f"{old}\na secret that nothing is sealed with yet\n")
    token = home.ok("token", "create", "--user", "admin@example.com", "--ability", "*").out.strip()
    home.write("token", token)
    answers(home)
    home.ok("key", "rotate")
    assert len(secrets_of(moved)) == 1
    answers(home)


def test_without_a_key_file_a_rotation_is_of_the_signing_key(home: Home) -> None:
    first_day(home)
    before = kept(home)
    home.ok("key", "rotate")
    answers(home)
    assert len(set(kept(home)) - set(before)) == 1
    assert not any(text.startswith("sealed:") for text in kept(home))
    assert sorted(path.name for path in home.folder.iterdir()) == ["data", "serve.log", "token"]


def test_at_a_terminal_a_new_key_is_asked_about(home: Home) -> None:
    first_day(home)
    before = kept(home)
    done = at_a_terminal(home, "token", "rotate-key", answers=["n"])
    assert (done.code, "Nothing was changed." in done.err, kept(home)) == (1, True, before)
    assert at_a_terminal(home, "token", "rotate-key", answers=["y"]).code == 0
    assert kept(home) != before
    assert at_a_terminal(home, "token", "rotate-key", "--yes").code == 0
