"""The attributes of the functions that a module declares, in LLVM's words."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Parameters hold attributes with parentheses of their own: `ptr initializes((0, 4))`.
_PARAMETERS = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
_DECLARATION = re.compile(
    rf'^declare [^\n]*?@"?(?P<name>[-a-zA-Z$._0-9]+)"?{_PARAMETERS}(?P<own>[^\n#]*)(?:#(?P<group>\d+))?',
    re.MULTILINE,
)
_GROUP = re.compile(r"^attributes #(\d+) = \{([^\n]*)\}$", re.MULTILINE)


def declared_attributes(text: str) -> Mapping[str, str]:
    """Return the attributes of each function that a module declares, its own and those of its group.

    Args:
        text: the module's, or the parts of it that hold `declare` lines and attribute groups.
    """
    groups = dict(_GROUP.findall(text))
    return {
        match["name"]: f"{match['own'].strip()} {groups.get(match['group'], '').strip()}".strip()
        for match in _DECLARATION.finditer(text)
    }
