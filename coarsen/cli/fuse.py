"""`coarsen fuse`: kernels that a program launches one after the other, as one; which of a recording may be."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import MISSING, dataclass
from pathlib import Path

from coarsen.cli.declared import argument, option, takes
from coarsen.cli.kernel_input import naming_file, with_file
from coarsen.cli.messages import note
from coarsen.cli.options import SourceOptions, file_argument
from coarsen.cli.output import write_result
from coarsen.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class FuseOptions(SourceOptions):
    """The options of `coarsen fuse`."""

    file: Path = file_argument()
    first: str = argument("The kernel that is launched first.", "FIRST", default=MISSING)
    second: list[str] = argument("The kernel that is launched next; or several.", "SECOND", default=MISSING)
    same: list[str] | None = option(
        "An argument of a kernel that is passed for another one of a later kernel. May be repeated.", "NAME=NAME"
    )
    apart: list[str] | None = option(
        "Kernels are passed other things for their arguments of this name. May be repeated.", "NAME"
    )
    gives_up: list[str] | None = option(
        "Nobody reads this buffer after the launch: it need not be written. May be repeated.", "NAME"
    )
    name: str | None = option("Name the fused kernel.  [default: FIRST_SECOND]", "NAME")
    output: Path | None = option("Write there.  [default: standard output]", "FILE.cl", "-o --output")


@takes(FuseOptions)
def fuse(asked: FuseOptions) -> None:
    """Make one kernel of several that are launched one after the other over the same NDRange.

    Arguments of one name are one argument. A value that a kernel reads from a buffer of the one before stays in a
    register; a buffer that is given up is not written. Kernels of which none writes what another one accesses go
    side by side. What could differ from launches apart is refused.

    Example: coarsen fuse kernels.cl scale add --gives-up t -o scale_add.cl
    """
    # Imported late: it loads clang.
    from coarsen.fused import fuse as fused

    with naming_file(asked.file):
        made = fused(
            asked.file,
            asked.first,
            asked.second,
            shlex.split(asked.build_options),
            same=[*_pairs(asked.same or ())],
            apart=asked.apart or (),
            gives_up=asked.gives_up or (),
            name=asked.name,
        )
        text = made.opencl_c
    for each in made.given_up:
        if each.left:
            place = f"{each.position}: " if each.position else ""
            note(with_file(f"{place}{each.left}", asked.file))
    for sentence in made.assumptions:
        note(sentence)
    comment = "".join(f"// {sentence}\n" for sentence in made.assumptions)
    write_result(comment + text, asked.output)


def _pairs(words: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Yield what `--same` was given, taken apart. Raises InvalidInputError."""
    for word in words:
        first, equals, second = word.partition("=")
        if not (first and equals and second):
            raise InvalidInputError(f"--same takes the names of two arguments, such as t=a, not '{word}'")
        yield first, second
