"""`coarsen fuse`: kernels that a program launches one after the other, as one; which of a recording may be."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.declared import argument, option, takes
from coarsen.cli.kernel_input import naming_file, with_file
from coarsen.cli.messages import note
from coarsen.cli.options import SourceOptions
from coarsen.cli.output import print_line, write_result
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.layer.chains import Chain

# That are printed.
_MOST_CHAINS = 25


@dataclass(frozen=True, kw_only=True)
class FuseOptions(SourceOptions):
    """The options of `coarsen fuse`."""

    file: Path | None = argument("OpenCL C source.", "KERNEL.cl", default=None)
    first: str | None = argument("The kernel that is launched first.", "FIRST", default=None)
    second: list[str] | None = argument("The kernel that is launched next; or several.", "SECOND", default=None)
    recording: Path | None = option(
        "Say which launches of a recording (coarsen run --record FOLDER) one launch could do, and what it saves.",
        "FOLDER",
        "--from",
    )
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

    Example: coarsen fuse --from recorded
    """
    if asked.recording is not None:
        if asked.file is not None:
            raise InvalidInputError("--from takes the kernels of a recording: leave the file and its kernels out")
        _print_chains(asked.recording)
        return
    if asked.file is None or asked.first is None or not asked.second:
        raise InvalidInputError("a file and two of its kernels are missing: coarsen fuse KERNEL.cl FIRST SECOND")
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


def _print_chains(recording: Path) -> None:
    """Print the chains of a recording, each with the command to run next, and why others are none."""
    # Imported late: it loads clang.
    from coarsen.layer.chains import chains_of

    chains = chains_of(recording)
    if not chains:
        note(
            "no launches follow each other over one NDRange; lists of earlier versions have no order: record again"
        )
    for chain in chains[:_MOST_CHAINS]:
        times = f"{' → '.join(chain.kernels)}, {chain.count} time{'s' * (chain.count > 1)}"
        print_line(f"{times}: {chain.reason or _saved(chain)}")
        if chain.fused is not None and chain.source is not None:
            print_line(f"  {_command(chain)}")
    if len(chains) > _MOST_CHAINS:
        print_line(f"and {len(chains) - _MOST_CHAINS} others, which are rarer")


def _saved(chain: Chain) -> str:
    """Say what one launch saves, and ask what is known of the program alone."""
    saved = f"{chain.saved_bytes:,} bytes less to and from memory each time"
    if not chain.gives_up:
        return saved
    names, them = " and ".join(chain.gives_up), "it" if len(chain.gives_up) == 1 else "them"
    more = f"{' '.join(f'--gives-up {name}' for name in chain.gives_up)}): {chain.saved_more:,}"
    return f"{saved}; nobody reads {names} later here: if nothing else does, give {them} up ({more}"


def _command(chain: Chain) -> str:
    """Return the command that makes a chain's kernel; another way where names can't say what is one."""
    if chain.fused is None or chain.fused.apart is None:
        return "program.together(queue), since names of arguments can't tell which are one"
    words = ["coarsen", "fuse", str(chain.source), *chain.kernels]
    words += [word for pair in chain.fused.same for word in ("--same", "=".join(pair))]
    words += [word for name in chain.fused.apart for word in ("--apart", name)]
    words += [f"--build-option={option}" for option in chain.options]
    return shlex.join([*words, "-o", f"{'_'.join(chain.kernels)}.cl"])


def _pairs(words: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Yield what `--same` was given, taken apart. Raises InvalidInputError."""
    for word in words:
        first, equals, second = word.partition("=")
        if not (first and equals and second):
            raise InvalidInputError(f"--same takes the names of two arguments, such as t=a, not '{word}'")
        yield first, second
