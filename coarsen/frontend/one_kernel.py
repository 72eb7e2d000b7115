"""A source without the bodies of all kernels but one: a device's compiler takes as long as the whole is.

    kernel void a(…) { … }              (empty)
    float helper(…) { … }      ──▶      float helper(…) { … }
    kernel void b(…) { helper(…); }     kernel void b(…) { helper(…); }

Every line keeps its number. What was taken out is judged by the result: unless the kernel's normal form is the
same, to the letter, the source stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coarsen.errors import CoarsenError
from coarsen.frontend.annotations import code_lines
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import module_text
from coarsen.ir.hashed_text import hashed_text

_KERNEL = re.compile(r"\b(?:__)?kernel\b")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")
_TEXT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)", re.MULTILINE)
_BRACE = re.compile(r"[{}]")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


def source_of_one_kernel(source: str, kernel: str, options: Sequence[str], macros: DeviceMacros) -> str:
    """Return a source without the other kernels; as it is where that would change the kernel.

    Args:
        source: OpenCL C.
        kernel: the name of the one that stays.
        options: the build options, one by one.
        macros: what the source may find out about its device.
    """
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    code = _TEXT.sub(lambda match: " " * len(match[0]), "\n".join(code_lines(text)))
    others = [(start, end) for name, start, end in _kernels(code) if name != kernel]
    if not others:
        return source
    alone, at = "", 0
    for start, end in others:
        alone += text[at:start] + "\n" * text.count("\n", start, end)
        at = end
    alone += text[at:]
    try:
        forms = [hashed_text(module_text(lower(each, kernel, options, macros).graph)) for each in (source, alone)]
    except CoarsenError:
        return source
    return alone if forms[0] == forms[1] else source


def _kernels(code: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the start and the end of each kernel that can be taken out of a source without comments."""
    at = 0
    while (found := _KERNEL.search(code, at)) is not None:
        body = code.find("{", found.start())
        end = _end_of_block(code, body)
        if end is None:
            return
        head = code[found.start() : body]
        name = _NAME.search(_ATTRIBUTE.sub(" ", head))
        at = found.end() if ";" in head else end
        # What a directive decides is not a matter of this text alone.
        if name is not None and ";" not in head and not _DIRECTIVE.search(code, found.start(), end):
            yield name[1], found.start(), end


def _end_of_block(code: str, begin: int) -> int | None:
    """Return the place after the brace that closes a block; None where there is none."""
    depth = 0
    for brace in _BRACE.finditer(code, begin) if begin >= 0 else ():
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return None
