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
from pathlib import Path
from typing import Any

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
# Tables as they are on other pages, not as pandas would have them.
_STYLE = re.compile(r"<style.*?</style>|(?<=<table)[^>]*", re.DOTALL)
_BRACKET = re.compile(r"[\[\]]")
_LINK = re.compile(r"\]\((?P<target>[^)\s#]+)")


def notebook_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """The page of a notebook in the format of Jupyter, version 4, and its figures: PNG files by their names."""
    parts: list[str] = []
    figures: dict[str, bytes] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"]).strip("\n")
        if cell["cell_type"] == "markdown":
            parts.append(_LINK.sub(_link_of_page, source))
        elif cell["cell_type"] == "code" and source:
            parts.append(_fenced("python", source))
            for output in cell["outputs"]:
                parts.extend(_output(output, path.stem, figures))
    parts.insert(1, f"*This page is a notebook with its stored outputs: [{path.name}]({path.name}).*")
    return "\n\n".join(parts) + "\n", figures


def _link_of_page(link: re.Match[str]) -> str:
    """A link as it is to be from the page: notebooks are pages, and `../docs` is the folder above."""
    target = re.sub(r"^\.\./docs/", "../", link["target"])
    return "](" + (re.sub(r"\.ipynb$", ".md", target) if "://" not in target else target)


def _output(output: Mapping[str, Any], name: str, figures: dict[str, bytes]) -> Iterator[str]:
    data = {kind: "".join(content) for kind, content in output.get("data", {}).items()}
    if "image/png" in data:
        number = len(figures) + 1
        file = f"{name}-{number}.png"
        alt = output.get("metadata", {}).get("image/png", {}).get("alt", f"Figure {number} of this notebook")
        figures[file] = base64.b64decode(data["image/png"])
        # A link to itself: on a phone a figure is to be had in its own size.
        yield f"[![{_BRACKET.sub('', alt)}]({file}){{ .figure }}]({file})"
    elif "text/html" in data:
        yield f'<div class="output">\n{_STYLE.sub("", data["text/html"]).strip()}\n</div>'
    elif "text/markdown" in data:
        yield data["text/markdown"]
    elif "text" in output or "text/plain" in data:
        text = "".join(output.get("text", data.get("text/plain", "")))
        yield _fenced("{ .text .output .no-copy }", _ESCAPES.sub("", text).rstrip())


def _fenced(language: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence} {language}\n{text}\n{fence}"
