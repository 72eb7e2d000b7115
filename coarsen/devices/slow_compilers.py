"""Devices whose compilers take minutes for some kernels, and what of a kernel shows it beforehand.

PoCL (3.1) writes what comes after a barrier once for each way by which it is reached. One to three barriers under
each condition, in plain OpenCL C, took its compiler these seconds of processor time:

    `if`s in a row           1      2      3      4      5      6      8
    ways                     2      4      8     16     32     64    256
    seconds               0.06   0.12   0.24    0.5    1.4    4.5   > 20
    loops, each in an `if`   1      2      3      4
    ways                     3      9     27     81
    seconds               0.13    0.3    0.7    2.1

More barriers on each way take longer in proportion. PyOpenCL's scan with four work-groups merged and
guarded has 625 ways: minutes.
"""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.errors import RefusalError

_MOST_ON_POCL = 32


def most_ways_by_barriers(platform_versions: Iterable[str]) -> int | None:
    """Return the number of ways through a kernel that may differ in the barriers on them.

    Args:
        platform_versions: those of all devices that a kernel is built for, as OpenCL names them.

    Returns:
        The number that all of the compilers take in some seconds; None where there is no limit.
    """
    return _MOST_ON_POCL if any("pocl" in version.casefold() for version in platform_versions) else None


def check_ways_by_barriers(ways: int, most: int | None) -> None:
    """Raise RefusalError, `slow-to-compile`, for a kernel on which the device's compiler would take too long.

    Args:
        ways: those through the coarsened kernel.
        most: of `most_ways_by_barriers`.
    """
    if most is not None and ways > most:
        reason = (
            f"{ways} ways through the kernel would differ in their barriers, and PoCL may take minutes to compile "
            f"more than {most}: merge fewer work-groups, or work-items"
        )
        raise RefusalError("slow-to-compile", reason)
