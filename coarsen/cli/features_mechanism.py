"""The mechanism features in what `coarsen apply --features` shows."""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.cli.options import parsed_local_size
from coarsen.cli.output import print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.features import MECHANISM_FEATURES, MechanismTable, mechanism_table
from coarsen.ir.kernel import Kernel


def given_local_size(text: str | None, *, is_used: bool) -> tuple[int, ...] | None:
    """Return the local size that was given, None where it wasn't.

    Raises:
        InvalidInputError: it is no size, or neither `mechanism` nor `work`, which alone need it, is given.
    """
    if text is not None and not is_used:
        raise InvalidInputError("--local-size goes with --features mechanism and work")
    return parsed_local_size(text)


def mechanism_of(
    kernel: Kernel, dimension: int, local_size: tuple[int, ...] | None, factors: Sequence[int]
) -> MechanismTable:
    """Return the mechanism features.

    Raises InvalidInputError for a local size that the kernel can't be launched with.
    """
    # Imported late: it loads the models, which the 17 features do without.
    from coarsen.prediction import checked_local_size

    return mechanism_table(kernel, dimension, checked_local_size(kernel, dimension, local_size), factors)


def mechanism_as_data(table: MechanismTable) -> dict[str, object]:
    """Return the table as JSON: the local size, whether it is known, and the features by factor."""
    return {
        "local_size": list(table.local_size),
        "local_size_is_assumed": table.local_size_is_assumed,
        "mechanism": {str(factor): table.at(factor).by_name() for factor in table.factors},
    }


def print_mechanism(table: MechanismTable) -> None:
    """Print them, a row per feature and a column per factor."""
    print_line()
    assumed = " (assumed)" if table.local_size_is_assumed else ""
    print_line(f"for a local size of {'×'.join(map(str, table.local_size))}{assumed}")
    print_line()
    columns = [table.at(factor).by_name() for factor in table.factors]
    headings = [str(factor) for factor in table.factors]
    names = [feature.name for feature in MECHANISM_FEATURES]
    rows = [[name.replace("_", " "), *(f"{column[name]:.4g}" for column in columns)] for name in names]
    print_table(["feature", *headings], rows, numbers=headings)
