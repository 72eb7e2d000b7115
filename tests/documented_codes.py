"""The codes of refusals and of reasons, as the page of the reference lists them."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "codes.md"


def documented_codes(section: str) -> dict[str, str]:
    """Return the codes of a section, which its anchor names, with their meanings."""
    (text,) = re.findall(
        rf"^## [^\n]*{{ #{section} }}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    found = re.findall(r'^\| <span id="(.+)"></span>`\1` \| (.+) \|$', text, re.M)
    # Two headings of each table have no anchor.
    assert found and len(found) == sum(line.startswith("|") for line in text.splitlines()) - 2 * text.count(
        "| code |"
    )
    return dict(found)
