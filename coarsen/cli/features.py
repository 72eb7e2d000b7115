"""`coarsen features`: the static features of a kernel at each factor."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from coarsen.cli.apply_options import AnySize, FastPath, LockStep, WideAccesses
from coarsen.cli.features_planned import (
    Asked,
    PlannedFactor,
    PlannedLevel,
    PlannedStride,
    check_planned_options,
    planned_as_data,
    planned_work,
    print_planned,
)
from coarsen.cli.features_registers import RegistersOn, print_registers, registers_as_data, registers_by_factor
from coarsen.cli.features_work import (
    ArgumentSizes,
    GlobalSize,
    Work,
    check_work_options,
    print_work,
    work_as_data,
    work_of,
)
from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.cli.local_size import parsed_local_size
from coarsen.cli.options import (
    BuildOptions,
    Definitions,
    Dimension,
    IncludeFolders,
    KernelFile,
    KernelName,
    OutputFormat,
    Standard,
    build_options,
    checked_dimension,
)
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS, FEATURES, FeatureTable, feature_table
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import Use

_ALL_FACTORS = ",".join(map(str, FACTORS))

Factors = Annotated[str, typer.Option("--factors", metavar="FACTOR,...", help="The factors, separated by commas.")]
LocalSizeBefore = Annotated[
    str | None,
    typer.Option(
        "--local-size",
        metavar="SIZE",
        help="With --work: the launch's local size before coarsening, 64 or 16x16.  "
        "[default: what the kernel requires, else 256, 16x16 or 8x8x4]",
    ),
]


def features(
    file: KernelFile,
    kernel: KernelName = None,
    dim: Dimension = 0,
    factors: Factors = _ALL_FACTORS,
    local_size: LocalSizeBefore = None,
    registers: RegistersOn = None,
    work: Work = False,
    global_size: GlobalSize = None,
    size: ArgumentSizes = None,
    factor: PlannedFactor = None,
    stride: PlannedStride = 1,
    level: PlannedLevel = Level.ITEM,
    any_size: AnySize = False,
    fast_path: FastPath = Use.AUTO,
    lock_step: LockStep = Use.AUTO,
    wide_accesses: WideAccesses = False,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Show the static features of a kernel at each factor.

    They are computed from the kernel's divergence, without coarsening it. The published cascades take them.

    Example: coarsen features sgemm.cl --dim 1 --factors 1,2,4

    Example: coarsen features sgemm.cl --work --global-size 512x512 --size inner_size=1024

    Example: coarsen features sgemm.cl --work --global-size 512x512 --factor 4 --wide-accesses
    """
    wanted = _parse_factors(factors)
    if local_size is not None and not work:
        raise InvalidInputError("--local-size is for --work")
    local = parsed_local_size(local_size)
    check_work_options(work, global_size, size)
    dimension, options = checked_dimension(dim), build_options(define, include, cl_std, build_option)
    asked = Asked(factor, dimension, stride, level, any_size, fast_path, lock_step, wide_accesses)
    check_planned_options(asked, has_work=work, global_size=global_size)
    lowered = lower_file(file, kernel, options)
    with naming_file(file):
        table = feature_table(lowered, dimension, wanted)
        functions = work_of(lowered, global_size, local, size or ()) if work else None
        planned = planned_work(functions, asked) if functions else None
        found = registers_by_factor(lowered, dimension, wanted, registers) if registers is not None else {}
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


def _parse_factors(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"[0-9]+", word) and int(word) >= 1 for word in words):
        raise InvalidInputError(f"--factors needs whole numbers of at least 1 between commas, not '{text}'")
    return tuple(sorted({int(word) for word in words}))


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
