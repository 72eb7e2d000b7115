"""The names that stand in a piece of C text."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z_]\w*")


def words_of(text: str) -> frozenset[str]:
    """All identifiers in a text, string literals included (which does no harm where names are looked for)."""
    return frozenset(_WORD.findall(text))
