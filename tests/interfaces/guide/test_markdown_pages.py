"""Markdown becomes HTML that scrolls if it is wide, with an anchor at each heading, and text for the search."""

import re
from pathlib import Path

import pytest

from wmsd import docs
from wmsd.interfaces.guide.markdown import Section, read_markdown

PAGES = sorted(Path(docs.__file__).parent.glob("*.md"))
PAGE = """# The title

What `it` is.

## Fixed

First.

### `wmsd *x*` & [more](/docs/more)

| name | means |
|---|---|
| `log.file` | Where the `log` is |
| plain | no entry of its own |

## Fixed

```
a < b

```

- one
- two
"""


def test_a_heading_has_an_anchor_of_its_own() -> None:
    document = read_markdown(PAGE)
    assert (document.title.text, document.title.id) == ("The title", "the-title")
    assert [(each.level, each.id, each.text) for each in document.headings] == [
        (2, "fixed", "Fixed"),
        (3, "wmsd-x-more-docs-more", "wmsd *x* & more"),
        (2, "fixed-2", "Fixed"),
    ]
    assert (
        '<h2 id="fixed-2">Fixed</h2><a class="anchor" href="#fixed-2" aria-label="Link to: Fixed">'
        in document.rest
    )
    assert 'aria-label="Link to: wmsd *x* &amp; more"' in document.rest


def test_the_introduction_stands_apart() -> None:
    document = read_markdown(PAGE)
    assert document.introduction == "<p>What <code>it</code> is.</p>\n"
    assert "The title" not in document.introduction + document.rest
    assert (read_markdown("# Only\n\nText.").rest, read_markdown("# Only").introduction) == ("", "")


def test_what_is_wide_has_a_box_that_keys_scroll() -> None:
    rest = read_markdown(PAGE).rest
    assert '<div class="wide" tabindex="0" role="group" aria-label="Table: name, means"><table>' in rest
    assert rest.count("</table></div>") == 1
    assert (
        '<pre id="code-block-1" tabindex="0"><code>a &lt; b</code></pre>'
        '<button class="button" type="button" data-copy="code-block-1" hidden>Copy</button>'
    ) in rest


def test_sections_and_rows_that_begin_with_code_are_searched() -> None:
    assert list(read_markdown(PAGE).sections) == [
        Section("The title", "the-title", "What it is."),
        Section("Fixed", "fixed", "First."),
        Section("log.file", "wmsd-x-more-docs-more", "Where the log is", is_row=True),
        Section(
            "wmsd *x* & more",
            "wmsd-x-more-docs-more",
            "name · means log.file · Where the log is plain · no entry of its own",
        ),
        Section("Fixed", "fixed-2", "a < b\n\n one two"),
    ]


def test_figures_stand_under_each_other_without_a_style() -> None:
    rest = read_markdown("# T\n\n## H\n\n| a | b | c |\n|---|--:|:-:|\n| 1 | 2 | 3 |\n").rest
    assert "<th>a</th>" in rest
    assert '<td class="num">2</td>' in rest
    assert "style" not in rest


@pytest.mark.parametrize("text", ["", "No title", "## Too small\n"])
def test_a_page_without_a_title_is_no_page(text: str) -> None:
    with pytest.raises(ValueError, match="begins with its title"):
        read_markdown(text)


def test_html_in_a_page_is_text() -> None:
    document = read_markdown('# T\n\n<script>x</script>\n\n## <b onclick="x">\n\n| <i> |\n|---|\n| <u> |\n')
    shown = document.introduction + document.rest
    assert not re.search(r"<(script|b|i|u)\b", shown)
    assert 'aria-label="Link to: &lt;b onclick=&quot;x&quot;&gt;"' in shown


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_each_page_of_the_guide_is_whole(path: Path) -> None:
    document = read_markdown(path.read_text(encoding="utf-8"))
    shown = document.introduction + document.rest
    ids = re.findall(r' id="([^"]*)"', shown)
    assert len(ids) == len(set(ids))
    assert all(ids)
    assert document.introduction.startswith("<p>"), "a page begins by saying what it is about"
    assert [each.level for each in document.headings if each.level not in (2, 3)] == []
