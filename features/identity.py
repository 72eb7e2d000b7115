"""Identity of a kernel: the same for the same code, whatever its comments, layout and names.

It is of the normal form's blocks and of the arguments' types. Metadata, which differs between versions of clang,
and the names of values, blocks and the kernel stay out of it.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import defaultdict

from coarsen.ir.graph.printer import instruction_text
from coarsen.ir.kernel import Kernel

_DIGITS = 16
_METADATA = re.compile(r",? ?!\S+ !\S+|,? ?#\d+\b")
_NAME = re.compile(r'%"[^"]*"|%[-\w$.]+')


def kernel_identity(kernel: Kernel) -> str:
    """Return the first 16 hexadecimal digits of a SHA-256 over the kernel's code."""
    numbers: defaultdict[str, str] = defaultdict(map("%{}".format, itertools.count()).__next__)
    arguments = " ".join(str(argument.type) for argument in kernel.arguments)
    for argument in kernel.arguments:
        _ = numbers[f"%{argument.name}"]
    lines = [arguments]
    for block in kernel.blocks:
        lines.append(f"{numbers[f'%{block.name}']}:")
        lines += [
            _NAME.sub(lambda found: numbers[found[0]], _METADATA.sub("", instruction_text(i)))
            for i in block.instructions
        ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_DIGITS]
