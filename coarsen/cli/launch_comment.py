"""The comment at the head of a coarsened kernel in a file: what it is, and how it is launched.

// Written by coarsen 0.4.0: kernel sgemm, 4 work-items merged along dimension 1.
// Launch: along dimension 1, divide the global and the local size by 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.distribution import __version__
from coarsen.printable import printable_in_line
from coarsen.variant.coarsening import Coarsening, Level


def launch_comment(coarsened: CoarsenedKernel, notes: Iterable[str], mark: str = "//") -> str:
    """Return the comment, line by line.

    Args:
        coarsened: the kernel.
        notes: what else a launch has to keep to, in sentences.
        mark: begins a comment's line.
    """
    lines = [*_lines(coarsened), *(f"Note: {note}." for note in notes)]
    # A backslash at a line's end would go on with the comment on the next line.
    return "".join(f"{mark} {printable_in_line(line).rstrip(chr(92))}\n" for line in lines)


def _lines(coarsened: CoarsenedKernel) -> Iterator[str]:
    merging = [entry for entry in coarsened.configuration if entry.factor > 1]
    done = ", ".join(map(_merged, merging)) or "nothing merged"
    yield f"Written by coarsen {__version__}: kernel {coarsened.kernel.name}, {done}."
    guarded = {each.dimension for each in coarsened.added_arguments if each.meaning == "global-size"}
    for entry in merging:
        yield f"Launch: along dimension {entry.dimension}, {_launch(entry, entry.dimension in guarded)}."
    if not merging:
        yield "Launch: as the original."


def _merged(entry: Coarsening) -> str:
    if entry.level is Level.GROUP:
        return f"{entry.factor} work-groups merged along dimension {entry.dimension}"
    stride = f" with stride {entry.stride}" if entry.stride > 1 else ""
    return f"{entry.factor} work-items merged along dimension {entry.dimension}{stride}"


def _launch(entry: Coarsening, is_guarded: bool) -> str:
    """Say how a launch of global size G and local size L changes along a dimension."""
    factor, stride = entry.factor, entry.stride
    if entry.level is Level.GROUP:
        if is_guarded:
            return f"for a global size G and a local size L: ceil(G / L / {factor}) * L work-items in groups of L"
        return f"divide the global size by {factor}, and keep the local size"
    if is_guarded:
        least = f"ceil(G / {factor})" if stride == 1 else f"ceil(G / {factor * stride}) * {stride}"
        return f"for a global size G: at least {least} work-items, in groups of any size"
    rest = f"; {stride} must divide what is left of the local size" if stride > 1 else ""
    return f"divide the global and the local size by {factor}{rest}"
