"""`coarsen apply --features`: the static features of a kernel at each factor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from coarsen.backend.registers import RegisterUse, registers_on
from coarsen.cli.apply.features_planned import (
    check_planned_options,
    planned_as_data,
    planned_work,
    print_planned,
)
from coarsen.cli.apply.features_work import check_work_options, print_work, work_as_data, work_of
from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.cli.options import build_options, checked_dimension, parsed_local_size
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.cost.register_pressure import maximum_live_words
from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS, FEATURES, FeatureTable, feature_table
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import run_pipeline
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant


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
    asked: Variant | None,
    define: list[str] | None,
    include: list[str] | None,
    cl_std: str | None,
    build_option: list[str] | None,
    output_format: Format,
) -> None:
    """Show the 17 static features of a kernel at each factor, as the paper and its authors define them.

    They are computed from the kernel's divergence, without coarsening it. The arguments are options of
    `coarsen apply`, `asked` the variant of which the work is shown; `registers` of a chip and `work` are shown
    besides where they are asked for.
    """
    if local_size is not None and not work:
        raise InvalidInputError("--local-size goes with --report and --features work")
    local = parsed_local_size(local_size)
    check_work_options(work, global_size, size)
    dimension, options = checked_dimension(dim), build_options(define, include, cl_std, build_option)
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


# `coarsen apply --features registers:CHIP`: how many registers a kernel takes at each factor, estimated and real.

_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers at one factor: the estimate that the features hold, and the compiler's figures."""

    live_words: int
    use: RegisterUse


def registers_by_factor(
    kernel: Kernel, dimension: int, factors: Iterable[int], chip: str
) -> Mapping[int, Registers]:
    """Coarsen a kernel by each factor and compile it for a chip.

    Raises:
        RefusalError, DeviceError, InvalidInputError: as `coarsen.backend.registers.registers_on` does.
    """
    analysed = analyse(kernel, dimension)
    found = {}
    for factor in factors:
        coarsened = run_pipeline(kernel, Variant(coarsenings=(Coarsening(factor, dimension),))).kernel
        found[factor] = Registers(maximum_live_words(analysed, factor), registers_on(coarsened, chip))
    return found


def registers_as_data(registers: Mapping[int, Registers]) -> object:
    """Return the registers as JSON: by factor, with the unknown as null."""
    return {str(factor): {"live_words": row.live_words, **asdict(row.use)} for factor, row in registers.items()}


def print_registers(registers: Mapping[int, Registers], chip: str) -> None:
    """Print a row per figure and a column per factor."""
    headings = [str(factor) for factor in registers]
    rows = list(registers.values())
    figures: dict[str, list[int | None]] = {
        "live words, estimated": [row.live_words for row in rows],
        "registers per work-item": [row.use.per_work_item for row in rows],
        "scalar registers": [row.use.scalar for row in rows],
        "occupancy": [row.use.occupancy for row in rows],
        "scratch bytes": [row.use.scratch_bytes for row in rows],
    }
    told = {name: numbers for name, numbers in figures.items() if any(n is not None for n in numbers)}
    print_line()
    cells = [[name, *(_UNKNOWN if n is None else str(n) for n in numbers)] for name, numbers in told.items()]
    print_table([f"on {chip}", *headings], cells, numbers=headings)
