"""`coarsen fuse`: kernels that a program launches one after the other, as one; which of a recording may be."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.declared import argument, option, takes
from coarsen.cli.kernel_input import naming_file, with_file
from coarsen.cli.messages import note
from coarsen.cli.options import SourceOptions
from coarsen.cli.output import counted, print_line, write_result
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.layer.chains import Chain

# That are printed.
_MOST_CHAINS = 25


@dataclass(frozen=True, kw_only=True)
class FuseOptions(SourceOptions):
    """The options of `coarsen fuse`."""

    file: Path | None = argument("OpenCL C source.", "KERNEL.cl", default=None)
    kernels: list[str] | None = argument(
        "The kernels, in the order of their launches; with what each is passed, if need be: 'add(n, t, b, c)'.",
        "KERNEL",
        default=None,
    )
    recording: Path | None = option(
        "Say which launches of a recording (coarsen run --record FOLDER) one launch could do, and what it saves.",
        "FOLDER",
        "--from",
    )
    gives_up: list[str] | None = option(
        "Nobody reads this buffer after the launch: it need not be written. May be repeated.", "NAME"
    )
    name: str | None = option("Name the fused kernel.  [default: FIRST_SECOND]", "NAME")
    output: Path | None = option("Write there.  [default: standard output]", "FILE.cl", "-o --output")


@takes(FuseOptions)
def fuse(asked: FuseOptions) -> None:
    """Make one kernel of several that are launched one after the other over the same NDRange.

    Arguments of one name are one argument; where names say something else, a kernel is written with what it is
    passed. A value that a kernel reads from a buffer of the one before stays in a register; a buffer that is given
    up is not written. Kernels of which none writes what another one accesses go side by side. What could differ
    from launches apart is refused.

    Example: coarsen fuse kernels.cl scale add --gives-up t -o scale_add.cl

    Example: coarsen fuse kernels.cl scale 'add(n, t, b, t)' 'scale(n, k, t, c)'

    Example: coarsen fuse --from recorded
    """
    if asked.recording is not None:
        if asked.file is not None:
            raise InvalidInputError("--from takes the kernels of a recording: leave the file and its kernels out")
        _print_chains(asked.recording)
        return
    if asked.file is None:
        raise InvalidInputError("a file and its kernels are missing: coarsen fuse KERNEL.cl FIRST SECOND")
    # Imported late: it loads clang.
    from coarsen.fused import fuse as fused

    with naming_file(asked.file):
        made = fused(
            asked.file,
            *(asked.kernels or ()),
            options=shlex.split(asked.build_options),
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
        note("nowhere would one launch save anything")
    for chain in chains[:_MOST_CHAINS]:
        print_line(
            f"{' → '.join(chain.kernels)}, {counted(len(chain.found), 'time')}: {chain.reason or _saved(chain)}"
        )
        if chain.fused is not None:
            options = [f"--build-option={each}" for each in chain.launches[0].kernel.options]
            words = [str(chain.source), *chain.fused.calls, *options, "-o", f"{'_'.join(chain.kernels)}.cl"]
            print_line(f"  coarsen fuse {shlex.join(words)}")
    if len(chains) > _MOST_CHAINS:
        print_line(f"and {len(chains) - _MOST_CHAINS} others, which are rarer")


def _saved(chain: Chain) -> str:
    """Say what one launch saves, and ask what is known of the program alone."""
    saved = f"{chain.saved_bytes:,} bytes less to and from memory each time"
    if not chain.unread:
        return saved
    words = " ".join(f"--gives-up {name}" for name in chain.unread.values())
    more = f": {chain.saved_more:,}" if chain.saved_more else ""
    names = " and ".join(chain.unread.values())
    return f"{saved}; nobody reads {names} later here, nor in the program? {words}{more}"
