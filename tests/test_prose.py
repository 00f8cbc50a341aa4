"""The pages are written in plain English: short sentences, and none of a few constructions."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = [DOCS / "gallery", DOCS / "notebooks", DOCS / "reference" / "api"]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        page
        for page in sorted(DOCS.rglob("*.md"))
        if not any(folder in page.parents for folder in GENERATED)
    ),
]
MOST_WORDS = 35

# Blocks and spans without prose; a formula or a name counts as one word.
FENCED = re.compile(r"^ *(```|~~~|:::+)[^\n]*\n.*?^ *\1[^\n]*$", flags=re.DOTALL | re.MULTILINE)
SPANS = [
    (re.compile(r"\A---\n.*?^---$", flags=re.DOTALL | re.MULTILINE), ""),
    (FENCED, ""),
    (re.compile(r"\$\$.*?\$\$", flags=re.DOTALL), "X"),
    (re.compile(r"\$[^$]*\$"), "X"),
    (re.compile(r"`[^`]*`"), "X"),
    (re.compile(r"\]\([^)]*\)"), "]"),
]
BLOCK = re.compile(r"\n\s*\n|\n(?= *(?:[-*|#>] |\d+\. ))")
END = re.compile(r"(?<=[.!?:;])\s+|(?<=[.!?][)*\"])\s+|(?<=[.!?]\*\*)\s+")
QUOTED = re.compile(r'"[^"]*"')

BANNED = {
    "a pronoun in place of a noun": r"\b(?:those|that) of\b",
    "'for ever' for 'forever'": r"\bfor ever\b",
    "'else' for 'otherwise'": r"\bElse\b|[,;] else\b",
    "'beside' for 'next to', 'compared with' or 'besides'": r"\bbeside\b",
    "'what' outside of a question": r"\b[Ww]hat\b(?!.*\?$)",
    "'but for' for 'except'": r"\bbut for\b",
    "a chain of 'of'": r"\bof (?:[\w'-]+ ){1,3}of (?:[\w'-]+ ){1,3}of\b",
    "software that hears": r"\b(?:hears?|heard)\b",
    "software that says, knows or wants": (
        r"\b(?:command|convexity|file|function|grid|metadata|mixture|page|program|report|server"
        r"|summary|table)s? (?:says?|knows?|wants?)\b"
    ),
}


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page, each in one line: the parts between . ! ? : and ;."""
    for pattern, word in SPANS:
        text = pattern.sub(word, text)
    for block in BLOCK.split(text):
        if not block.lstrip().startswith(("|", "#", ":")):
            yield from END.split(" ".join(block.split()))


def faults(sentence: str) -> list[str]:
    """Return what is wrong with a sentence."""
    words = len(sentence.split())
    found = [f"{words} words"] if words > MOST_WORDS else []
    unquoted = QUOTED.sub("X", sentence)
    return found + [name for name, pattern in BANNED.items() if re.search(pattern, unquoted)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short_and_plain(page: Path) -> None:
    name = page.relative_to(ROOT)
    wrong = [
        f"{name}: {', '.join(found)}: {sentence}"
        for sentence in sentences(page.read_text(encoding="utf-8"))
        if (found := faults(sentence))
    ]
    assert not wrong, "\n".join(wrong)


def test_code_tables_headings_and_formulas_are_no_prose() -> None:
    page = (
        "# What it is\n\n```sh\nbeside\n```\n\n| what | beside |\n|---|---|\n\n"
        "The rate is $a + b$, by `else` and [it](beside.md).\n\n- One: two;\n  three\n- What now?\n"
    )
    expected = ["The rate is X, by X and [it].", "- One:", "two;", "three", "- What now?"]
    assert [sentence for sentence in sentences(page) if sentence] == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "word " * 36,
        "Its errors are larger than those of the mean.",
        "It sleeps for ever.",
        "Else leave it out.",
        "The blend is shown beside the mean.",
        "It returns what came last.",
        "All but for one.",
        "The name of the column of the table of forecasts.",
        "The model is heard again.",
        "The page says so.",
    ],
)
def test_faults_are_found(sentence: str) -> None:
    assert len(faults(sentence)) == 1


@pytest.mark.parametrize(
    "sentence", ["word " * 35, "What does it cost?", 'He wrote "beside".', "The end of the list."]
)
def test_plain_sentences_pass(sentence: str) -> None:
    assert not faults(sentence)
