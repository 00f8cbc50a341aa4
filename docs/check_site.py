"""Check the built site: nothing from elsewhere, no broken link, every public name in the reference.

Usage: python docs/check_site.py out/site
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import normalhedge

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""Tags that load something, and the attribute that says what."""

LOADING_LINKS = {
    "stylesheet",
    "icon",
    "preload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "modulepreload",
}
"""Kinds of `link` that load something."""


class Page(HTMLParser):
    """What a page loads, where it links to, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.words = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag loads, links to or is named."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag in LOADED and LOADED[tag] in found:
            self.loads.append(found[LOADED[tag]])
        elif tag == "link" and LOADING_LINKS & set(found.get("rel", "").split()):
            self.loads.append(found.get("href", ""))
        elif tag == "a" and "href" in found:
            self.links.append(found["href"])

    def handle_data(self, data: str) -> None:
        """Count the words of a page."""
        self.words += len(data.split())


def from_elsewhere(address: str) -> bool:
    """Return whether an address is not a file of the site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in {"", "data"}


def pages_of(site: Path) -> dict[Path, Page]:
    """Return all pages of a site by their path."""
    return {
        path.resolve(): Page(path)
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts
    }


def broken_loads(page: Page) -> Iterator[str]:
    """Yield what a page loads from elsewhere, or from files that are not there."""
    for address in page.loads:
        if from_elsewhere(address):
            yield f"loads {address}"
        elif (
            not address.startswith("data:")
            and not (page.path.parent / unquote(urlsplit(address).path)).is_file()
        ):
            yield f"loads {address}, which is not there"


def broken_links(page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield the links of a page that lead nowhere; those to other sites are only read."""
    for address in page.links:
        parts = urlsplit(address)
        if parts.scheme in {"http", "https"}:
            if "." not in parts.netloc:
                yield f"links to {address}, which is no address"
        elif parts.scheme:
            yield f"links to {address}"
        else:
            target = (
                (page.path.parent / unquote(parts.path)).resolve()
                if parts.path
                else page.path.resolve()
            )
            if not target.is_file():
                yield f"links to {address}, which is not there"
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].anchors
            ):
                yield f"links to {address}, which has no such anchor"


def styles_from_elsewhere(site: Path) -> Iterator[str]:
    """Yield the addresses in style sheets that are not files of the site."""
    for sheet in sorted(site.rglob("*.css")):
        text = sheet.read_text(encoding="utf-8")
        for address in re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(
            r"@import\s+['\"]([^'\"]+)", text
        ):
            if from_elsewhere(address):
                yield f"{sheet.relative_to(site)}: loads {address}"


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield the full name of everything in an `__all__` of the package, and the thing itself.

    Where its library is not installed, the name stands for the thing.
    """
    for module in [
        normalhedge.__name__,
        *(m.name for m in pkgutil.walk_packages(normalhedge.__path__, "normalhedge.")),
    ]:
        if module.rpartition(".")[2] in {"__main__", "_core"}:
            continue
        try:
            found = importlib.import_module(module)
        except ImportError:  # a part of an adapter, whose names its package exports
            continue
        for name in getattr(found, "__all__", ()):
            try:
                yield f"{module}.{name}", getattr(found, name)
            except ImportError:
                yield f"{module}.{name}", name


def undocumented(documented: set[str]) -> Iterator[str]:
    """Yield the public names of which no documented name is another name.

    Parameters
    ----------
    documented
        Names of things in the reference, with their modules.
    """
    public = list(public_names())
    shown = [thing for name, thing in public if name in documented]
    for name, thing in public:
        if not any(thing is one for one in shown):
            yield f"{name} is not in the reference: add it to a page of docs/reference"


def faults(site: Path) -> list[str]:
    """Return all that is wrong with a site, a sentence each."""
    pages = pages_of(site)
    found = [] if pages else [f"there are no pages in {site}"]
    for page in pages.values():
        name = page.path.relative_to(site)
        found += [f"{name}: {fault}" for fault in (*broken_loads(page), *broken_links(page, pages))]
        if page.words < 30:
            found.append(f"{name}: is nearly empty")
    shown = {path.stem for path in (site / "reference" / "api").glob("*.html")}
    return [*found, *styles_from_elsewhere(site), *undocumented(shown)]


def main() -> int:
    """Print what is wrong; return the exit code."""
    site = Path(sys.argv[1])
    found = faults(site)
    for fault in found:
        print(fault)
    print(f"{site}: {len(pages_of(site))} pages, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
