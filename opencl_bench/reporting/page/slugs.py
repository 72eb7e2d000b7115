"""Short names for addresses: letters, digits and hyphens, so that nothing in them needs to be escaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_OTHER = re.compile(r"[^a-z0-9]+")


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A slug for each name, no two the same: "AMD EPYC (PoCL)" has amd-epyc-pocl."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = unicodedata.normalize("NFKD", name).casefold()
        slug = base = _OTHER.sub("-", plain).strip("-") or "unnamed"
        number = 2
        while slug in taken:
            slug, number = f"{base}-{number}", number + 1
        taken.add(slug)
        found[name] = slug
    return found
