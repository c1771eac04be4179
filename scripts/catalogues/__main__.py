"""Brings the catalogues of errors up to date with the code."""

from pathlib import Path

from polib import POEntry, POFile, pofile

from tests.support.error_sentences import collected
from tests.support.messages import CATALOGUES
from wmsd.interfaces.pages.language import ERROR

UNBROKEN = 1_000_000
"""Columns: each text stands in one line, so that a changed word changes one line."""


def updated(path: Path, said: set[str]) -> POFile:
    """The catalogue with exactly these sentences, in their order."""
    found = pofile(str(path), wrapwidth=UNBROKEN)
    known = {each.msgid: each for each in found}
    found[:] = [known.get(each) or POEntry(msgctxt=ERROR, msgid=each, msgstr="") for each in sorted(said)]
    return found


def main() -> None:
    for path in sorted(CATALOGUES.glob("*-errors.po")):
        catalogue = updated(path, set(collected()))
        catalogue.save(str(path))
        print(f"{path.name}: {len(catalogue)} sentences, {len(catalogue.untranslated_entries())} untranslated.")


if __name__ == "__main__":
    main()
