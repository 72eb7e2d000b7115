"""A notebook as a page: its text as it is, its code, and the outputs that are stored in it.

    notebooks/NAME.ipynb ─▶ notebooks/NAME.md, notebooks/NAME-1.png, …, and the notebook itself, to be downloaded

Nothing is executed. Being Markdown, the page looks like all others, is searched like them, and its links are
checked.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_STYLE = re.compile(r"<style.*?</style>", re.DOTALL)
_TABLE = re.compile(r"<table[^>]*>")
_BRACKET = re.compile(r"[\[\]]")
_LINK = re.compile(r"\]\((?P<target>[^)\s#]+)")


@dataclass
class NotebookPage:
    """A notebook on its way to being a page; `figures` are PNG files by their names."""

    name: str
    parts: list[str] = field(default_factory=list)
    figures: dict[str, bytes] = field(default_factory=dict)

    @property
    def markdown(self) -> str:
        """The page."""
        return "\n\n".join(self.parts) + "\n"


def notebook_page(path: Path) -> NotebookPage:
    """The page of a notebook in the format of Jupyter, version 4."""
    page = NotebookPage(path.stem)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        source = "".join(cell["source"]).strip("\n")
        if cell["cell_type"] == "markdown":
            page.parts.append(_LINK.sub(_link_of_page, source))
        elif cell["cell_type"] == "code" and source:
            page.parts.append(_fenced("python", source))
            for output in cell["outputs"]:
                page.parts.extend(_output(output, page))
    page.parts.insert(1, f"*This page is a notebook with its stored outputs: [{path.name}]({path.name}).*")
    return page


def _link_of_page(link: re.Match[str]) -> str:
    """A link as it is to be from the page: notebooks are pages, and `../docs` is the folder above."""
    target = re.sub(r"^\.\./docs/", "../", link["target"])
    return "](" + (re.sub(r"\.ipynb$", ".md", target) if "://" not in target else target)


def _output(output: Mapping[str, Any], page: NotebookPage) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield _text(output["text"])
        return
    data = output.get("data", {})
    if "image/png" in data:
        yield _figure(output, page)
    elif "text/html" in data:
        yield f'<div class="output">\n{_unstyled("".join(data["text/html"]))}\n</div>'
    elif "text/markdown" in data:
        yield "".join(data["text/markdown"])
    elif "text/plain" in data:
        yield _text(data["text/plain"])


def _unstyled(html: str) -> str:
    """Tables as they are on other pages, not as pandas would have them."""
    return _TABLE.sub("<table>", _STYLE.sub("", html)).strip()


def _figure(output: Mapping[str, Any], page: NotebookPage) -> str:
    number = len(page.figures) + 1
    name = f"{page.name}-{number}.png"
    page.figures[name] = base64.b64decode("".join(output["data"]["image/png"]))
    finding = output.get("metadata", {}).get("image/png", {}).get("alt", f"Figure {number} of this notebook")
    # A link to itself: on a phone a figure is to be had in its own size.
    return f"[![{_BRACKET.sub('', finding)}]({name}){{ .figure }}]({name})"


def _text(text: str | list[str]) -> str:
    return _fenced("{ .text .output .no-copy }", _ESCAPES.sub("", "".join(text)).rstrip())


def _fenced(language: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence} {language}\n{text}\n{fence}"
