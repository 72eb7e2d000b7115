"""`coarsen apply --features`: the 17 static features of a kernel at each factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.features import FeatureTable, feature_table
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.options import COARSENING_OPTIONS, TRANSFORM_OPTIONS

if TYPE_CHECKING:
    from coarsen.cli.apply.options import ApplyOptions


_OF_VARIANTS = {**COARSENING_OPTIONS, **TRANSFORM_OPTIONS}


def show_features(asked: ApplyOptions) -> None:
    """Show the 17 features of a kernel at each factor, without coarsening it.

    Raises:
        InvalidInputError: options that do not go together.
        RefusalError: the kernel can't be coarsened so, or has something that no analysis follows.
    """
    along = _dimension(asked.chosen)
    lowered = lower_file(asked.file, asked.kernel, asked.build_options)
    with naming_file(asked.file):
        table = feature_table(lowered, along)
    columns = {str(factor): table.at(factor).by_name() for factor in table.factors}
    if asked.report_format is Format.JSON:
        print_json({"kernel": table.kernel, "dimension": table.dimension, "features": columns})
    else:
        _print(table, columns)


def _dimension(chosen: Mapping[str, Any]) -> int:
    """The dimension of the features. Raises InvalidInputError for other options of a variant."""
    along = chosen["dimension"] or [0]
    given = [name for name, option in _OF_VARIANTS.items() if chosen[name] not in (option.default, None, [])]
    if {*given} - {"dimension", "factor"} or chosen["factor"] or len(along) > 1:
        raise InvalidInputError("--features is of the kernel as it is: give no option of a variant but one --dim")
    return Coarsening(1, along[0]).dimension


def _print(table: FeatureTable, columns: Mapping[str, Mapping[str, float]]) -> None:
    print_line(f"kernel {table.kernel} along dimension {table.dimension}, by factor")
    print_line()
    names = next(iter(columns.values()))
    rows = [[name.replace("_", " "), *(f"{each[name]:.4g}" for each in columns.values())] for name in names]
    print_table(["feature", *columns], rows, numbers=[*columns])
