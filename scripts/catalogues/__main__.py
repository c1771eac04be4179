"""The program that updates the catalogues of errors, and of the doctor's findings, from the code."""

from pathlib import Path

from polib import POEntry, POFile, pofile

from tests.support import finding_texts
from tests.support.error_sentences import collected
from tests.support.messages import CATALOGUES
from wmsd.interfaces.pages.kit.text.language import ERROR, FINDING

UNBROKEN = 1_000_000
"""The line width in columns, so large that each text is on one line. A changed word then changes only one line."""


def updated(path: Path, said: set[str], context: str) -> POFile:
    """Read the catalogue in `path`, and return it with exactly the sentences `said`, sorted.

    A known sentence keeps its translation. A new sentence gets the context `context`, and no translation.
    """
    found = pofile(str(path), wrapwidth=UNBROKEN)
    known = {each.msgid: each for each in found}
    found[:] = [known.get(each) or POEntry(msgctxt=context, msgid=each, msgstr="") for each in sorted(said)]
    return found


def main() -> None:
    for part, said, context in (
        ("errors", set(collected()), ERROR),
        ("doctor", finding_texts.collected(), FINDING),
    ):
        for path in sorted(CATALOGUES.glob(f"*-{part}.po")):
            catalogue = updated(path, said, context)
            catalogue.save(str(path))
            missing = len(catalogue.untranslated_entries())
            print(f"{path.name}: {len(catalogue)} sentences, {missing} untranslated.")


if __name__ == "__main__":
    main()
