"""The mechanism features in what `coarsen features` shows."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from coarsen.cli.output import print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.features import MECHANISM_FEATURES, MechanismTable

Mechanism = Annotated[
    bool, typer.Option("--mechanism", help="Also divergence, strides, growth, registers, the launch.")
]
LocalSizeBefore = Annotated[
    str | None,
    typer.Option(
        "--local-size",
        metavar="SIZE",
        help="The launch's local size before coarsening, 64 or 16x16; for --mechanism.  "
        "[default: what the kernel requires, else 256, 16x16 or 8x8x4]",
    ),
]


def parsed_local_size(text: str | None, mechanism: bool) -> tuple[int, ...] | None:
    """`16x16` as a local size, None where it isn't given.

    Raises:
        InvalidInputError: it is no size, or `--mechanism`, which alone needs it, isn't given.
    """
    if text is None:
        return None
    if not mechanism:
        raise InvalidInputError("--local-size is for --mechanism")
    if not re.fullmatch(r"[1-9][0-9]{0,8}([x×][1-9][0-9]{0,8}){0,2}", text):
        raise InvalidInputError(f"--local-size takes a size such as 64 or 16x16, not '{text}'")
    return tuple(int(extent) for extent in re.split("[x×]", text))


def mechanism_as_data(table: MechanismTable) -> dict[str, object]:
    """What JSON says of them: the local size, and the features by factor."""
    return {
        "local_size": list(table.local_size),
        "mechanism": {str(factor): table.at(factor).by_name() for factor in table.factors},
    }


def print_mechanism(table: MechanismTable) -> None:
    """Print them, a row per feature and a column per factor."""
    print_line()
    print_line(f"for a local size of {'×'.join(map(str, table.local_size))}")
    print_line()
    columns = [table.at(factor).by_name() for factor in table.factors]
    headings = [str(factor) for factor in table.factors]
    names = [feature.name for feature in MECHANISM_FEATURES]
    rows = [[name.replace("_", " "), *(f"{column[name]:.4g}" for column in columns)] for name in names]
    print_table(["feature", *headings], rows, numbers=headings)
