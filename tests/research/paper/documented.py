"""The claims and verdicts that the page of the documents has."""

import re
from pathlib import Path

from normalhedge.research.paper._claim import FAILS, HOLDS, PaperClaim, holds_only

PAGE = Path(__file__).parents[3] / "docs" / "paper.md"
ROW = re.compile(
    r"^\| (?P<ours>\(ours\) )?(?:(?P<where>Theorem 1|Section [\d.]+): )?(?P<claim>[^|]+) "
    r"\| (?P<verdict>(?:holds|does not hold)[^|]*) \| (?P<beyond>[^|]*)\|$",
    flags=re.MULTILINE,
)


def documented() -> list[PaperClaim]:
    """Return the rows of the table, in order."""
    rows = []
    for found in ROW.finditer(PAGE.read_text("utf-8")):
        words = found["verdict"]
        verdict = HOLDS if words.startswith("holds") else FAILS
        if words.startswith("holds only "):
            verdict = holds_only(words.removeprefix("holds only "))
        where = found["where"] or "Section 5"
        where += "; ours" if found["ours"] else ""
        rows.append(PaperClaim(found["claim"], where, words, "", "", verdict, found["beyond"]))
    return rows
