"""The names that stand in a piece of C text."""

from __future__ import annotations

import re

_WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")


def words_of(text: str) -> frozenset[str]:
    """All identifiers in a text but members' names; string literals are included, which does no harm."""
    return frozenset(_WORD.findall(text))
