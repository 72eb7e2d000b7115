"""Keeps LLVM's SPIR-V back end from joining a truncation and the widening after it.

It makes one `and` of the two, with the mask in the wide type and the value in the type before the truncation,
which no device takes: `OpBitwiseAnd %uint %ulong_value %uint_255`. A `freeze` between them, which is no operation
in SPIR-V, keeps them apart.

    before                               after
    %b = trunc i64 %a to i8              %b = trunc i64 %a to i8
    %c = zext i8 %b to i32               %b.frozen = freeze i8 %b
                                         %c = zext i8 %b.frozen to i32
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TRUNCATION = re.compile(r"^  (%[-a-zA-Z$._0-9]+) = trunc ", re.MULTILINE)
_WIDENING = re.compile(
    r"^  (?P<start>%(?P<name>[-a-zA-Z$._0-9]+) = zext (?:nneg )?)(?P<type>[^%]+?) "
    r"(?P<value>%[-a-zA-Z$._0-9]+)(?P<end> to .*)$"
)


def keep_widenings_apart(assembly: str) -> str:
    """Return a module's text with a `freeze` before each widening of a truncated value."""
    truncated = set(_TRUNCATION.findall(assembly))
    return "\n".join(line for old in assembly.split("\n") for line in _rewritten(old, truncated))


def _rewritten(line: str, truncated: set[str]) -> Iterator[str]:
    match = _WIDENING.match(line)
    if match is None or match["value"] not in truncated:
        yield line
        return
    frozen = f"%{match['name']}.frozen"
    yield f"  {frozen} = freeze {match['type']} {match['value']}"
    yield f"  {match['start']}{match['type']} {frozen}{match['end']}"
