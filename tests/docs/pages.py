"""A built site as tests see it: the pages, their ids, what they refer to, their text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from html.parser import HTMLParser
from pathlib import Path

# What a browser fetches by itself when it shows a page.
_FETCHED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
_CSS_ADDRESS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class Page(HTMLParser):
    """One page; `links` are those that a reader may follow, `fetched` what is loaded with it."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids |= {given["id"]} if "id" in given else set()
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.fetched.append(given["href"])
        self.fetched += [value for name, value in given.items() if (tag, name) in _FETCHED]
        self.fetched += css_addresses(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @cached_property
    def text(self) -> str:
        """All that can be read, in one line."""
        return " ".join("".join(self.words).split())


@dataclass(frozen=True)
class Site:
    """The folder of a built site."""

    folder: Path

    def pages(self) -> list[Page]:
        # The page for addresses that do not exist is for servers: its links begin at the root of the host.
        return [page(path) for path in sorted(self.folder.rglob("*.html")) if path.name != "404.html"]

    def page(self, name: str) -> Page:
        return page(self.folder / name)

    def style_sheets(self) -> list[Path]:
        return sorted(self.folder.rglob("*.css"))


@cache
def page(path: Path) -> Page:
    return Page(path)


def css_addresses(text: str) -> list[str]:
    return [first or second for first, second in _CSS_ADDRESS.findall(text)]
