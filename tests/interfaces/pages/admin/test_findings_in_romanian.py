"""The doctor's findings in Romanian: every declared sentence, and the page that lists them."""

import errno
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from polib import pofile

from tests.interfaces.pages.admin.test_health_pages import WRONG_COUNT, examined, house, of_house
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.support.finding_texts import MOMENT, TOTAL, collected, example, one_of_each, places_of, unnamed
from tests.support.world import World, open_world
from wmsd.base.machine.regular_files import reason_of
from wmsd.contract.findings import Finding, FindingKind
from wmsd.contract.invariants import Check
from wmsd.data_folder import clock_watch
from wmsd.host.tls import verdict
from wmsd.host.tls.certificate_files import check_files
from wmsd.interfaces.pages.admin import health_words
from wmsd.interfaces.pages.kit.text import language
from wmsd.interfaces.pages.kit.text.finding_sentences import of_file, remedy_of, sentence_of
from wmsd.interfaces.pages.kit.text.language import CATALOGUES, FINDING, PLACES
from wmsd.maintenance.backups.last_runs import BackupRecord, VerifiedBackup, change_record
from wmsd.maintenance.doctor import clock, disk, findings, folder_files, network
from wmsd.maintenance.doctor.findings import KINDS
from wmsd.maintenance.file_checks.company_checks import CHECKS
from wmsd.platform.admin_view.findings_file import Diagnosed, diagnosis_as_json
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sections.server import Server

CATALOGUE = pofile(str(CATALOGUES / "ro-doctor.po"))
TRANSLATIONS = {each.msgid: each.msgstr for each in CATALOGUE}
__all__ = ["house"]  # a fixture


@pytest.fixture(autouse=True)
def _romanian() -> Iterator[None]:
    before = language.current.set("ro")
    yield
    language.current.reset(before)


def kept(found: Finding) -> Mapping[str, object]:
    """Return the finding in the form that the page gets."""
    (each,) = diagnosis_as_json([found])["installation"]
    return Diagnosed.model_validate({"installation": [each]}).model_dump()["installation"][0]  # type: ignore[no-any-return]  # its shape varies


def test_every_declared_text_is_translated_and_none_is_left_over() -> None:
    assert sorted(each.msgid for each in CATALOGUE) == sorted(collected()), "run scripts/messages"
    assert [each.msgid for each in CATALOGUE if not each.msgstr or each.msgctxt != FINDING or each.fuzzy] == []


def test_a_translation_has_the_places_of_its_text() -> None:
    assert [
        text for text, told in TRANSLATIONS.items() if set(places_of(told)) != set(places_of(text)) or "{}" in told
    ] == []


def test_a_text_of_ours_has_words_around_its_places() -> None:
    """A text of placeholders only would match every sentence."""
    texts = {word for kind in KINDS for word in kind.words} | {word for each in CHECKS for word in each.words}
    assert [text for text in texts if not PLACES.sub("", text).strip()] == []


@pytest.mark.parametrize("kind", [each for each in KINDS if each != clock.DOUBTED], ids=lambda each: each.name)
def test_every_kind_is_told_with_its_facts(kind: FindingKind) -> None:
    facts = example(kind)
    found = Finding(kind, facts)
    assert sentence_of(kept(found)) == TRANSLATIONS[kind.says].format_map(facts)
    assert remedy_of(kept(found)) == TRANSLATIONS[kind.remedy].format_map(facts)
    language.current.set("en")
    assert sentence_of(kept(found)) == found.sentence
    assert remedy_of(kept(found)) == found.remedy


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (None, "Serverul a fost oprit mai mult de o zi"),
        (timedelta(hours=-3), "Ceasul a fost dat înapoi cu 3 h 0 min, deci "),
        (timedelta(days=30), "Ceasul a fost dat înainte (zile: 30), deci "),
    ],
)
def test_the_doubt_about_the_clock_is_told(step: timedelta | None, told: str) -> None:
    at = datetime(2026, 11, 20, tzinfo=UTC)
    sentence = clock_watch.sentence(at, step)
    said = sentence_of(kept(clock.DOUBTED.of(sentence=f"{sentence[0].upper()}{sentence[1:]}.")))
    assert said.startswith(told)
    assert said.endswith("Dacă ceasul este corect, rulați `wmsd clock confirm`.")


def test_the_reasons_of_the_system_are_told() -> None:
    reason = reason_of(OSError(errno.EACCES, os.strerror(errno.EACCES)))
    said = sentence_of(kept(disk.TEMPORARY_UNUSABLE.of(Path("/tmp/x"), reason=reason)))
    assert said == "Nu se poate crea niciun fișier în dosarul temporar /tmp/x: acces refuzat."
    rare = sentence_of(kept(disk.TEMPORARY_UNUSABLE.of(Path("/x"), reason="what no system says")))
    assert rare == "Nu se poate crea niciun fișier în dosarul temporar /x: what no system says."


@pytest.mark.parametrize("group", findings.GROUPS, ids=lambda each: each.title)
def test_the_titles_of_the_groups_are_told(group: findings.Group) -> None:
    said = sentence_of(kept(findings.UNEXAMINED.of(group=group.title, reason="permission denied")))
    assert said == f"Nu s-a putut afla starea pentru: {TRANSLATIONS[group.title]}. Motivul: acces refuzat."


def test_what_is_wrong_with_a_certificate_is_told(tmp_path: Path) -> None:
    """The errors for a missing file and for a file with other content are translated."""
    missing, key = tmp_path / "missing.pem", tmp_path / "key.pem"
    key.write_text("no key")
    said = []
    for path in (missing, key):
        server = Server(tls="files", certificate=str(path), certificate_key=str(key))
        with pytest.raises(SettingsError) as raised:
            check_files(server)
        said.append(sentence_of(kept(verdict.UNUSABLE.of(reason=raised.value))))
    begin = "Fișierele certificatului nu pot fi folosite:"
    assert said == [
        f"{begin} {missing} nu poate fi citit: fișierul sau dosarul nu există.",
        f"{begin} {key} nu conține nicio cheie privată. Setați tls = files și indicați fișierul "
        "cheii private în server.certificate_key.",
    ]


def test_an_alert_about_a_certificate_has_the_words_of_the_doctor() -> None:
    reason = (
        "/a.key has no private key. Set tls = files, and name the file of the private key in "
        "server.certificate_key."
    )
    found = kept(verdict.UNUSABLE.of(reason=reason))
    alert = {"kind": "certificate-unusable", "subject": "", "facts": {"reason": reason}}
    assert health_words.sentence_of(alert) == sentence_of(found)
    assert health_words.remedy_of(alert) == remedy_of(found)
    assert "nu conține nicio cheie privată" in health_words.sentence_of(alert)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            folder_files.FILE_UNKNOWN.of(Path("/9.db"), owner=folder_files.NOBODY),
            "Compania indicată în fișier: nimeni.",
        ),
        (folder_files.FILE_UNKNOWN.of(Path("/9.db"), owner="ACME"), "Compania indicată în fișier: ACME."),
        (
            network.PORT_TAKEN.of(setting="server.listen", listen="[::1]:80", process="process 7 (nginx)"),
            "[::1]:80: procesul 7 (nginx).",
        ),
        (
            network.PORT_TAKEN.of(setting="server.listen", listen=":80", process=network.OF_ANOTHER_USER),
            "un proces al altui utilizator.",
        ),
        (
            network.PORT_OF_WMSD.of(setting="server.listen", listen=":80", folder=network.HIDDEN_FOLDER),
            "dosarul altui utilizator.",
        ),
        (
            network.PORT_TAKEN.of(setting="server.listen", listen=":80", process="process 7 (a (b)"),
            "pe :80: process 7 (a (b).",
        ),
        (verdict.NAMELESS.of(Path("/c")), "Certificatul /c nu numește nicio gazdă"),
    ],
)
def test_words_of_ours_in_the_places_are_told(found: Finding, told: str) -> None:
    assert told in sentence_of(kept(found))


@pytest.mark.parametrize(
    ("english", "romanian"),
    [
        (
            "a stock quantity must equal the sum of its movements; but ART-1 in W1, quarantined: 7 instead of 0.",
            "o cantitate din stoc trebuie să fie egală cu suma mișcărilor ei; dar ART-1 în W1, în carantină: 7 "
            "în loc de 0.",
        ),
        (
            "a serial must be in quarantine exactly when its movements have put it there; but A in W, lot L, "
            "serial S: 1 instead of 0.",
            "o serie trebuie să fie în carantină exact atunci când mișcările ei au pus-o acolo; dar A în W, "
            "lotul L, seria S: 1 în loc de 0.",
        ),
        (
            "an open sales order must reserve the serials that its lines name, and a sales order that is not "
            "open must reserve no serials; but SO-1, serial S: free instead of held.",
            "o comandă de vânzare deschisă trebuie să rezerve seriile de pe liniile ei, iar o comandă de "
            "vânzare care nu este deschisă nu trebuie să rezerve nicio serie; dar SO-1, seria S: liberă în loc de "
            "rezervată.",
        ),
        (
            "the stored total of a list must equal the number of its records; but articles: 7 instead of 0.",
            "totalul memorat al unei liste trebuie să fie egal cu numărul înregistrărilor ei; dar articles: 7 în "
            "loc de 0.",
        ),
        (
            "each reference must point to an existing record; but stock 5: none instead of a record of articles.",
            "fiecare referință trebuie să ducă la o înregistrare existentă; dar stock 5: niciuna în loc de o "
            "înregistrare din articles.",
        ),
        (
            "the file is damaged (index stock_by of table stock): Tree 4 page 4 cell 0: 2nd reference to page 7.",
            "fișierul este deteriorat (indexul stock_by al tabelului stock): Tree 4 page 4 cell 0: 2nd reference "
            "to page 7.",
        ),
        (
            "the file is damaged (the end of the file): it ends after 3 of 9 pages.",
            "fișierul este deteriorat (sfârșitul fișierului): se termină după 3 din 9 pagini.",
        ),
        (
            "could not check this rule: the rows of stock must be readable. The reason is: database "
            "disk image is malformed.",
            "nu s-a putut verifica următoarea regulă: rândurile din stock trebuie să poată fi citite. Motivul "
            "este: database disk image is malformed.",
        ),
        (
            "/data/companies/1.db cannot be used: permission denied.",
            "/data/companies/1.db nu poate fi folosit: permission denied.",
        ),
        ("and 4 more.", "și încă 4."),
        ("what no doctor says; but so: 1.", "what no doctor says; but so: 1."),
    ],
)
def test_what_is_wrong_in_a_file_is_told(english: str, romanian: str) -> None:
    assert of_file(english) == romanian
    language.current.set("en")
    assert of_file(english) == english


def test_a_code_with_words_in_it_stays_as_it_is() -> None:
    """The sentence can be read in two ways, and a translated code could not be found."""
    said = of_file("a stock quantity must equal the sum of its movements; but Cap in blue in W1: 7 instead of 0.")
    assert said == (
        "o cantitate din stoc trebuie să fie egală cu suma mișcărilor ei; dar Cap in blue in W1: 7 în loc de 0."
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda each: each.promise)
def test_a_check_has_the_words_of_its_records(check: Check) -> None:
    assert unnamed(check) == []


def test_a_forgotten_word_is_noticed() -> None:
    check = Check("it holds", "SELECT code || ', shelf ' || shelf, iif(a, 'yes', 'no'), 1 FROM t", words=("yes",))
    assert unnamed(check) == [", shelf ", "no"]


@pytest.mark.parametrize(
    "other",
    [
        {"check": "a-check-of-tomorrow"},
        {"sentence": "{file} is what no wmsd says.", "remedy": "{0.__class__}"},
        {"sentence": f"{'/x' * 249}…", "remedy": "Move it."},
    ],
)
def test_what_another_version_has_found_is_shown_as_it_is(other: dict[str, str]) -> None:
    found = {**kept(folder_files.FILE_STRAY.of(Path("/data/x"))), **other}
    assert (sentence_of(found), remedy_of(found)) == (found["sentence"], found["remedy"])


@pytest.mark.parametrize("name", ["{}", "{file}", "{0.__class__}", "%(x)s", "<b>x</b>", " is empty.", "Ă\n"])
def test_whatever_a_file_is_called_it_comes_back(name: str) -> None:
    assert name in sentence_of(kept(folder_files.FILE_STRAY.of(Path(f"/{name}"))))
    assert name in sentence_of(kept(folder_files.COMPANY_EMPTY.of(Path("/1.db"), code=name, backup="FILE")))
    assert name in of_file(
        f"a stock quantity must equal the sum of its movements; but {name} in W1: 7 instead of 0."
    )


TOTAL_IN_ROMANIAN: Final = (
    "totalul memorat al unei liste trebuie să fie egal cu numărul înregistrărilor ei; dar articles: 7 în loc de 0."
)


async def test_the_page_has_every_kind_in_romanian(tmp_path: Path) -> None:
    async with open_world(tmp_path, started=of_house) as world:
        found = [each for each in one_of_each(tmp_path) if each.kind != clock.DOUBTED]
        admin = await signed_in(world)
        page = text_of((await admin.get("/admin/health", {"Accept-Language": "ro"})).text)
        english = text_of((await admin.get("/admin/health", {"Accept-Language": "en"})).text)
    assert f"ACME {TOTAL_IN_ROMANIAN}" in page
    for each in found:
        told, remedy = (TRANSLATIONS[text].format_map(each.facts) for text in (each.kind.says, each.kind.remedy))
        severity = "Problemă" if each.is_wrong else "Avertisment"
        assert f"{severity} {told} {remedy}" in page
        assert each.sentence not in page
        assert each.remedy not in page
        assert f"{each.sentence} {each.remedy}" in english


async def test_the_proof_of_a_backup_is_told_as_the_examination(tmp_path: Path) -> None:
    async with open_world(tmp_path, started=of_house) as world:
        proven = VerifiedBackup(
            at=MOMENT, path="/x/b.tar.gz", seconds=1, problems=[f"ACME: {TOTAL}", "and 2 more."]
        )
        change_record(world.installation.folder.path, lambda _: BackupRecord(proven=proven))
        admin = await signed_in(world)
        page = text_of((await admin.get("/admin/health", {"Accept-Language": "ro"})).text)
    assert f"ACME: {TOTAL_IN_ROMANIAN} și încă 2." in page


async def test_what_a_real_examination_finds_is_told(house: World) -> None:
    stray = house.installation.folder.companies / "1.db.bak"
    stray.write_bytes(b"x")
    database = await house.database()
    await database.write(lambda tx: tx.execute(WRONG_COUNT))
    admin = await signed_in(house)
    await examined(admin)
    page = text_of((await admin.get("/admin/health", {"Accept-Language": "ro"})).text)
    assert f"Avertisment {stray} nu este un fișier al wmsd și nu este citit. Mutați fișierul" in page
    assert f"ACME {TOTAL_IN_ROMANIAN}" in page
