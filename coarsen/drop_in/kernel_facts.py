"""Facts that a choice for a kernel depends on: its normal form's hash, and whether other local sizes suit it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.analysis.whole_groups import groups_matter
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.printer import module_text


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """The SHA-256 of a kernel's normal form, in hexadecimal digits, and whether its work-groups matter to it."""

    ir_hash: str
    groups_matter: bool


def kernel_facts(source: str, kernel: str, options: Sequence[str], macros: DeviceMacros) -> KernelFacts:
    """Compile a kernel to its normal form and return its facts.

    Args:
        source: OpenCL C.
        kernel: its name.
        options: build options, one by one.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError: it does not compile.
        RefusalError: it can't be read.
    """
    lowered = lower(source, kernel, list(options), macros)
    return KernelFacts(hashlib.sha256(module_text(lowered).encode()).hexdigest(), groups_matter(lowered))
