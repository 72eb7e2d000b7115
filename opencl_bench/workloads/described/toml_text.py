"""Texts and arrays of texts as TOML has them, for descriptions that are written."""

from __future__ import annotations

import json
from collections.abc import Sequence


def quoted(text: str) -> str:
    """Return a text as a TOML string."""
    # JSON's strings are TOML's, as long as no character is written as two halves.
    return json.dumps(text, ensure_ascii=False)


def array(texts: Sequence[str]) -> str:
    """Return texts as a TOML array of strings."""
    return json.dumps(list(texts), ensure_ascii=False)
