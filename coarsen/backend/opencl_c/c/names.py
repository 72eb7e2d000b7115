"""Names for C variables, made safe and unique: float → float_, a second x → x_2."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coarsen.backend.opencl_c.c.types import SCALARS, VECTOR_COUNTS
from coarsen.ir.graph.instruction import Instruction

_UNSAFE = re.compile(r"\W")
_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
bool half uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t true false kernel global local
constant private generic read_only write_only read_write uniform pipe complex imaginary quad __kernel
__global __local __constant __private __generic __read_only __write_only __read_write __attribute__ event_t
sampler_t image1d_t image1d_array_t image1d_buffer_t image2d_t image2d_array_t image3d_t queue_t ndrange_t
clk_event_t reserve_id_t cl_mem_fence_flags memory_order memory_scope NULL INFINITY NAN MAXFLOAT HUGE_VAL
HUGE_VALF FLT_MAX FLT_MIN FLT_EPSILON INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN CHAR_BIT CHAR_MAX CHAR_MIN
SCHAR_MAX SHRT_MAX SHRT_MIN ULONG_MAX UCHAR_MAX USHRT_MAX DBL_MAX DBL_MIN DBL_EPSILON M_E M_LOG2E M_LOG10E
M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_SQRT2 M_E_F M_PI_F M_PI_2_F M_1_PI_F linux unix i386 asm
typeof main index_t
"""
_PATTERNS = re.compile(r"(?:atomic_|convert_|as_|CLK_|CL_|__)\w*|vload\d+|vstore\d+")
RESERVED = frozenset(_WORDS.split()) | {f"{name}{count}" for name in SCALARS for count in (*VECTOR_COUNTS, "")}


class Names:
    """Hands out names that nothing else has."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(RESERVED) | set(taken)
        self._next: dict[str, int] = {}

    def fixed(self, name: str) -> str:
        """Return a name that must stay as it is (an argument's)."""
        self._taken.add(name)
        return name

    def new(self, wish: str) -> str:
        """Return a free name: the wished one, or that with a number."""
        wish = self._safe(wish)
        name = wish
        number = self._next.get(wish, 1)
        while name in self._taken:
            number += 1
            name = f"{wish}_{number}"
        if name != wish:
            self._next[wish] = number
        self._taken.add(name)
        return name

    @staticmethod
    def _safe(wish: str) -> str:
        name = _UNSAFE.sub("_", wish)
        if not name or name[0].isdigit():
            name = f"value_{name}".rstrip("_")
        return f"{name}_" if name in RESERVED or _PATTERNS.fullmatch(name) else name


# The source's names of a kernel's values, as their origins have them, and those of labels.

_DIGITS = "0123456789"
# What LLVM's passes add to the name of a block that they make of another one.
_OF_PASSES = frozenset({"i", "us", "ph", "in", "be", "sink", "loopexit", "prol", "epil", "unr"})


def label_name(block: str) -> str:
    """Return the name of a label for a block: the compiler's, without its numbers."""
    words = [word for word in block.split(".") if not word.isdecimal() and word not in _OF_PASSES]
    name = ".".join(words) or block
    shortened = name.rstrip(_DIGITS)
    return shortened if len(name) - len(shortened) > 1 else name


def is_counter(phi: Instruction) -> bool:
    """Return True if a phi is called `i`: the most frequent of counters, a name that LLVM could have made up."""
    first, *added = phi.name.split(".")
    return first.rstrip(_DIGITS) == "i" and all(word.isdecimal() or word == "lcssa" for word in added)
