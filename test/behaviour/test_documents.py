# SPDX-License-Identifier: Apache-2.0
"""What documents refer to is there: files of the tree, other pages, their sections."""
import re

import pytest

from conftest import ROOT

PAGES = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "docs/architecture.md", "docs/glossary.md"]
FILE = re.compile(r"`((?:bench|docs|engine|fuzz|guests|lab|sdk|src|test|tools)/[\w./-]+|\.ci/run|[A-Z]{4,}(?:\.md)?)`")
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")


def anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def missing_of(path, text, root=ROOT):
    """What a page at `path` names that is not there."""
    # A module in tables of the architecture is `src/x/y`, the name without the suffix of its files.
    wrong = [name for name in FILE.findall(text) if "." in name.rsplit("/", 1)[-1] and not (root / name).exists()]
    for target, anchor in LINK.findall(text):
        file = (path.parent / target) if target else path
        if not file.exists():
            wrong.append(target)
        elif anchor and anchor not in anchors(file.read_text() if target else text):
            wrong.append(f"{target}#{anchor}")
    return wrong


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page):
    assert missing_of(ROOT / page, (ROOT / page).read_text()) == []


def test_what_is_not_there_is_found():
    text = "`src/no/such.h` and `NOSUCH.md`, [a](none.md), [b](docs/architecture.md#one-idea), [c](docs/architecture.md#no-idea)"
    assert missing_of(ROOT / "README.md", text) == ["src/no/such.h", "NOSUCH.md", "none.md", "docs/architecture.md#no-idea"]


def test_the_glossary_defines_each_word_once():
    words = [word.strip() for line in (ROOT / "docs/glossary.md").read_text().splitlines() if line.startswith("| ")
             for word in line.split("|")[1].split(",")]
    twice = {word for word in words if words.count(word) > 1 and word not in ("word", "where")}
    assert twice == set()
