"""The kernels of this folder, one construct each, as cases of the round trip."""

from __future__ import annotations

from pathlib import Path

from tests.backend.opencl_c.differential import Case

KERNELS = Path(__file__).parent / "kernels"
INTEGER_TYPES = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")


def cases_in(folder: str, options: tuple[str, ...] = ()) -> list[Case]:
    """The cases of a folder below `kernels`."""
    return [Case(path.stem, path.read_text(), options) for path in sorted((KERNELS / folder).glob("*.cl"))]


# The same arithmetic at every width and sign.
INTEGERS = [
    Case(f"{case.name}_{type_}", case.source, case.options)
    for type_ in INTEGER_TYPES
    for case in cases_in("integers", (f"-DTYPE={type_}",))
]
CASES = [*INTEGERS, *cases_in(".")]
# What Oclgrind's own compiler gets wrong in the original, or lacks.
COMPILED = cases_in("compiled")
OPENCL_2_0 = cases_in("opencl_2_0", ("-cl-std=CL2.0",))
# Jumps into the middle of a loop, and cases that fall through, have no structured form.
WITH_GOTO = frozenset({"irreducible", "switch_cases", "switch_of_many"})
