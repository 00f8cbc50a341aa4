"""A word on a page for users is English, in the glossary, or the name of a program."""

import re
from pathlib import Path

import pytest

from tests.test_prose import PAGES, SPANS

ROOT = Path(__file__).parents[1]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ENGLISH = [Path("/usr/share/dict") / f"{kind}-english" for kind in ("american", "british")]
THEORY = {"certificates", "leaderboard", "many-experts", "paper", "two-levels"}
USERS = [
    page
    for page in PAGES
    if page.name != "CONTRIBUTING.md"
    and page.parent.name not in {"algorithms", "note", "theory"}
    and page.stem not in THEORY
]
NAMES = re.compile(
    "asyncio|crps|filterpy|hmmlearn|hubverse|jupytext|localhost|matplotlib|mlforecast|nginx"
    "|neuralforecast|normalhedge|numpy|profoc|pyarrow|scikit|scipy|sktime|statsforecast"
    "|statsmodels|stderr|stdin|struct|systemd|valgrind|venv"
)
COMPUTING = re.compile(
    "(checksum|dataset|docstring|jitter|leaderboard|metadata|middleware|splitter)s?"
)
"""Words of computing that every user knows and that the lists of English lack."""
ENDINGS = [
    ("", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""),
    ("ing", "e"), ("er", ""), ("ly", ""), ("ia", "ium"), ("fold", ""),
]  # fmt: skip
WORD = re.compile(r"(?<![\w.])[a-z]{4,}(?![\w(])")


def known(word: str, words: set[str]) -> bool:
    """Return whether a word, or the word that it is made of, is one of some words."""
    stems = [word[: len(word) - len(end)] + new for end, new in ENDINGS if word.endswith(end)]
    stems += [word[len(start) :] for start in ("non", "over", "pre", "re", "sub", "un")
              if word.startswith(start)]  # fmt: skip
    return any(stem in words for stem in stems)


def unknown(text: str, words: set[str]) -> set[str]:
    """Return the words of a page that are not known."""
    for pattern, word in SPANS:
        text = pattern.sub(word, text)
    text = re.sub(r"https?://\S+|<[^>]*>", "", text)
    return {
        word
        for word in WORD.findall(text)
        if not known(word, words) and not NAMES.fullmatch(word) and not COMPUTING.fullmatch(word)
    }


def defined() -> set[str]:
    """Return the words of the terms in the glossary, and of their other forms in italics."""
    terms = re.findall(r"^\| ([^|]+) \|", GLOSSARY, re.MULTILINE)
    return set(re.findall(r"\w+", " ".join([*terms, *re.findall(r"\*([^*]+)\*", GLOSSARY)])))


@pytest.mark.skipif(
    not all(path.exists() for path in ENGLISH),
    reason="no lists of English words: make system PARTS=words",
)
def test_words_are_english_or_in_the_glossary() -> None:
    english = {word for path in ENGLISH for word in path.read_text("utf-8").lower().split()}
    words = english | defined()
    faults = {
        str(page.relative_to(ROOT)): unknown(page.read_text("utf-8"), words) for page in USERS
    }
    assert not {page: found for page, found in faults.items() if found}


def test_a_word_without_an_entry_is_found() -> None:
    page = "The hedger reweights its `frobs`, but the frobnicators sleep."
    words = {"the", "its", "but", "sleep", "weights"} | defined()
    assert unknown(page, words) == {"frobnicators"}


def test_terms_that_pages_introduce_in_italics_are_in_the_glossary() -> None:
    """An italic word that is followed by its meaning introduces a term."""
    introduced = {
        term
        for page in USERS
        for term in re.findall(
            r"(?<![*\w])\*([a-z]+)\* (?:is|are) (?:a|an|the) ", page.read_text("utf-8")
        )
    }
    assert introduced <= defined()
