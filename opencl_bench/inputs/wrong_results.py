"""Versions with wrong results in the rows of a tuning over inputs.

a version is wrong at an input       ──▶ it is shipped for none
the default version is wrong at one  ──▶ the tuning ends: all others are compared with it, or fall back to it
"""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.errors import VerificationError
from coarsen.opencl_bench.records.measurement import CheckedAgainst, Invalidity, Measurement
from coarsen.variant.variant import Variant

# So many inputs are named where there are more.
_NAMED = 3


def with_wrong_results(rows: Iterable[Measurement]) -> dict[Variant, str]:
    """Name the versions that had wrong results at any input: these are shipped for none.

    Args:
        rows: of some versions on some inputs.

    Returns:
        Each with where and why.
    """
    return {row.candidate: f"{_where(row)}: {row.reason}" for row in rows if _is_wrong(row)}


def check_default(rows: Iterable[Measurement], default: Variant) -> None:
    """Check that the default version has no wrong results.

    Args:
        rows: of some versions on some inputs.
        default: the version that others are compared with.

    Raises:
        VerificationError: it has: with a reference, other results; else others the second time, or it writes
            outside of a buffer.
    """
    wrong = {_where(row): row for row in rows if row.candidate == default and _is_wrong(row)}
    if not wrong:
        return
    first = next(iter(wrong.values()))
    where = ", ".join([*wrong][:_NAMED])
    more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    judge = "the reference" if first.oracle is CheckedAgainst.REFERENCE else "its arguments"
    raise VerificationError(
        f"{first.subject.benchmark}: the default version, {default}, has wrong results at {where}{more}: "
        f"{first.reason}; others are compared with it, so correct the kernel, {judge} or the tolerances, or leave "
        "such inputs out"
    )


def _where(row: Measurement) -> str:
    return f"{row.subject.preset}, caches flushed" if row.method.cold_cache else row.subject.preset


def _is_wrong(row: Measurement) -> bool:
    return row.invalidity is Invalidity.CORRECTNESS
