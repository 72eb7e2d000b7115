"""`coarsen apply --features`: the static features of a kernel at each factor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coarsen.cli.apply.features_planned import (
    Asked,
    check_planned_options,
    planned_as_data,
    planned_work,
    print_planned,
)
from coarsen.cli.apply.features_registers import print_registers, registers_as_data, registers_by_factor
from coarsen.cli.apply.features_work import (
    check_work_options,
    print_work,
    work_as_data,
    work_of,
)
from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.cli.options import build_options, checked_dimension, parsed_local_size
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS, FEATURES, FeatureTable, feature_table
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import Use


def features(
    file: Path,
    kernel: str | None,
    dim: int,
    *,
    local_size: str | None,
    registers: str | None,
    work: bool,
    global_size: str | None,
    size: Sequence[str] | None,
    factor: int | None,
    stride: int,
    level: Level,
    any_size: bool,
    fast_path: Use,
    lock_step: Use,
    wide_accesses: bool,
    define: list[str] | None,
    include: list[str] | None,
    cl_std: str | None,
    build_option: list[str] | None,
    output_format: Format,
) -> None:
    """Show the 17 static features of a kernel at each factor, as the paper and its authors define them.

    They are computed from the kernel's divergence, without coarsening it. The arguments are options of
    `coarsen apply`; `registers` of a chip and `work` are shown besides where they are asked for.
    """
    if local_size is not None and not work:
        raise InvalidInputError("--local-size goes with --report and --features work")
    local = parsed_local_size(local_size)
    check_work_options(work, global_size, size)
    dimension, options = checked_dimension(dim), build_options(define, include, cl_std, build_option)
    asked = Asked(factor, dimension, stride, level, any_size, fast_path, lock_step, wide_accesses)
    check_planned_options(asked, has_work=work, global_size=global_size)
    lowered = lower_file(file, kernel, options)
    with naming_file(file):
        table = feature_table(lowered, dimension)
        functions = work_of(lowered, global_size, local, size or ()) if work else None
        planned = planned_work(functions, asked) if functions else None
        found = registers_by_factor(lowered, dimension, FACTORS, registers) if registers is not None else {}
    if output_format is Format.JSON:
        further: dict[str, object] = {}
        further |= {"registers": registers_as_data(found)} if registers is not None else {}
        further |= work_as_data(functions) if functions else {}
        further |= planned_as_data(planned) if planned else {}
        print_json(_as_data(table) | further)
        return
    _print(table)
    if registers is not None:
        print_registers(found, registers)
    if functions:
        print_work(functions)
    if planned:
        print_planned(planned)


def _as_data(table: FeatureTable) -> dict[str, object]:
    return {
        "kernel": table.kernel,
        "dimension": table.dimension,
        "features": {str(factor): table.at(factor).by_name() for factor in table.factors},
    }


def _print(table: FeatureTable) -> None:
    print_line(f"kernel {table.kernel} along dimension {table.dimension}, by factor")
    print_line()
    columns = [table.at(factor).by_name() for factor in table.factors]
    headings = [str(factor) for factor in table.factors]
    rows = [[name.replace("_", " "), *(f"{column[name]:.4g}" for column in columns)] for name in _names()]
    print_table(["feature", *headings], rows, numbers=headings)


def _names() -> list[str]:
    return [feature.name for feature in FEATURES]
