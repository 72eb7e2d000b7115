"""Names: the hint ` (did you mean sgemm?)` for unknown ones, those that a package loads when they are used, and
those that OpenCL C has."""

from __future__ import annotations

import gc
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

# Of difflib's measure of likeness, 0 to 1: one wrong letter of three is still found.
_LIKENESS = 0.6
_HINTS = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that names what is spelled almost so, upper and lower case alike; empty where nothing is.

    Args:
        name: what was given.
        known: the names that there are.
    """
    near = similar_names(name, known)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that are spelled almost so, upper and lower case alike, the nearest first.

    Args:
        name: what was given.
        known: the names that there are.
    """
    # Imported late: it takes longer to load than most programs need it.
    import difflib

    by_folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.strip().casefold(), list(by_folded), _HINTS, _LIKENESS)
    return [by_folded[each] for each in near]


# Names that are loaded only when they are first used (PEP 562).
#
#     __getattr__, __dir__ = lazy_names(__name__, {"Program": "coarsen.drop_in.program"})
#
# Whoever imports the package then pays for nothing that they do not use. A machine that only runs packs has the
# package without what it depends on, so this needs the standard library alone.


def lazy_names(package: str, module_of: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    Args:
        package: its name.
        module_of: for each name that it offers the module that defines it, or that it is.
    """

    def load(name: str) -> Any:  # noqa: ANN401 (each name has its own type)
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        is_collecting = gc.isenabled()
        # To look for garbage among what PyOpenCL and NumPy have made takes a fifth of the time, and there is none.
        gc.disable()
        try:
            value: Any = importlib.import_module(module_of[name])
        finally:
            if is_collecting:
                gc.enable()
        if module_of[name] != f"{package}.{name}":
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return load, names


# In a clone, three of the package's parts are its neighbours, not its folders:
#
#     clone       coarsen/  features/  models/  opencl_bench/
#     installed   coarsen/{…, features/, models/, opencl_bench/}

PARTS = ("features", "models", "opencl_bench")


def folders_of_parts(package: Path) -> list[str]:
    """Return the folder of a clone, in which Python is to look for a package's parts; none for installed ones.

    Args:
        package: the package's own folder.
    """
    root = package.parent
    is_clone = (root / "pyproject.toml").is_file() and not (package / PARTS[0]).exists()
    return [str(root)] if is_clone and all((root / part / "__init__.py").is_file() for part in PARTS) else []


# Names that OpenCL C has: words, types and macros, which nothing else in a kernel can have, and functions, which
# its text may call or not.

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
bool half uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t true false kernel global local
constant private generic read_only write_only read_write uniform pipe complex imaginary quad __kernel
__global __local __constant __private __generic __read_only __write_only __read_write __attribute__ event_t
sampler_t image1d_t image1d_array_t image1d_buffer_t image2d_t image2d_array_t image3d_t queue_t ndrange_t
clk_event_t reserve_id_t cl_mem_fence_flags memory_order memory_scope NULL INFINITY NAN MAXFLOAT HUGE_VAL
HUGE_VALF linux unix i386 asm typeof main index_t
"""
_NUMBERS = ("bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
OPENCL_WORDS = {*_WORDS.split(), *(f"{name}{count}" for name in _NUMBERS for count in ("", 2, 3, 4, 8, 16))}
_PATTERN = re.compile(
    r"(?:atomic_|convert_|as_|CLK_|CL_|__)\w*|vload\d+|vstore\d+|FP_(?:ILOGB|FAST)\w*|"
    r"M_(?:E|LOG2E|LOG10E|LN2|LN10|PI|PI_2|PI_4|1_PI|2_PI|2_SQRTPI|SQRT2|SQRT1_2)(?:_[FH])?|"
    r"(?:FLT|DBL|HALF|SCHAR|U?(?:CHAR|SHRT|INT|LONG))_(?:MAX|MIN|DIG|MANT_DIG|EPSILON|RADIX|BIT)\w*"
)
# The ones of OpenCL C's functions that C's library has too.
_MATHEMATICAL = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
fmax fmin fmod hypot lgamma log log10 log1p log2 logb nearbyint nextafter pow remainder rint round sin sinh sqrt
tan tanh tgamma trunc
"""
MATHEMATICAL = frozenset(_MATHEMATICAL.split())
_FUNCTIONS = re.compile(
    r"get_(?:(?:enqueued_)?local|global|group|sub_group|num|max|image|work)_\w+|(?:work|sub)_group_\w+|"
    r"(?:half|native)_(?:cos|divide|exp|exp2|exp10|log|log2|log10|powr|recip|rsqrt|sin|sqrt|tan)|"
    r"fast_(?:distance|length|normalize)|atom_\w+|async_work_group_\w+|(?:read|write)_image\w+|"
    r"cl_\w+|intel_\w+|(?:read_|write_)?mem_fence|v(?:load|store)a?_half\w*|"
    r"mad_(?:hi|sat)|(?:add|sub)_sat|is(?:(?:not)?equal|(?:un)?ordered|normal|finite|inf|nan|lessgreater)|"
    r"is(?:less|greater)(?:equal)?|(?:a?(?:cos|sin|tan)|atan2)pi|"
    r"abs|abs_diff|all|any|barrier|bitselect|clamp|clz|cross|ctz|degrees|distance|dot|exp10|fract|frexp|hadd|ilogb|"
    r"ldexp|length|lgamma_r|mad|mad24|max|maxmag|min|minmag|mix|modf|mul24|mul_hi|nan|normalize|popcount|pown|powr|"
    r"prefetch|printf|radians|remquo|rhadd|rootn|rotate|rsqrt|select|shuffle|shuffle2|sign|signbit|sincos|"
    r"smoothstep|step|upsample|vec_step|wait_group_events"
)


def is_opencl_word(name: str) -> bool:
    """Return True for a word, a type or a macro of OpenCL C."""
    return name in OPENCL_WORDS or _PATTERN.fullmatch(name) is not None


def is_opencl_function(name: str) -> bool:
    """Return True for a function of OpenCL C, those of extensions too."""
    return name in MATHEMATICAL or _FUNCTIONS.fullmatch(name) is not None
