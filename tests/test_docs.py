"""The pages and the code name the same things."""

import re
from pathlib import Path

from normalhedge.hedgers import HEDGERS

PAGES = Path(__file__).parents[1] / "docs" / "algorithms"


def test_every_hedger_has_a_page() -> None:
    pages = {page.name: page.read_text() for page in PAGES.glob("*.md")}
    index = pages.pop("README.md")
    for name in HEDGERS:
        assert any(re.search(rf"\b{name}\b", page) for page in pages.values()), name
    for name in pages:
        assert f"({name})" in index


def test_every_page_has_the_same_parts() -> None:
    for page in PAGES.glob("*.md"):
        text = page.read_text()
        assert ">>> " in text
        if page.name != "README.md":
            parts = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
            assert parts[:3] == ["Equations", "Guarantees", "Cost"]
            assert parts[3].startswith("When to choose")
