"""The code of a kernel before and after, for its section."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coarsen.errors import CoarsenError, InternalError, InvalidInputError, RefusalError
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.source_text import opencl_c_of
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.reporting.page.content import Pair
from coarsen.opencl_bench.workloads.lookup import find_measured
from coarsen.pipeline import CoarsenedKernel, run_pipeline
from coarsen.remarks.explanation import Explanation, explain_kernel
from coarsen.transform.coarsen import analyse
from coarsen.tuning.processes.compile_service import build_options, code_of, ir_hash_of
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Definitions, Variant

CHANGED = (
    "What is shown is not what was measured, at least not on every device: the kernel, its inputs or the compiler "
    "have changed since, for the normalised code is another"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A row whose configuration is shown; `place` is a slug, `whose` says in words what it is there."""

    place: str
    whose: str
    row: Measurement


# The pairs, what is to be known of them, and the original, to be shown anyway, where there is no pair.
ShownCode = tuple[tuple[Pair, ...], str, Explanation | None]


def shown_code(
    name: str, folder: Path | None, ir_hashes: Mapping[Definitions, set[str]], chosen: Sequence[Chosen]
) -> ShownCode:
    """Return a kernel's code before and after; what can't be found or compiled is said in the note.

    Args:
        name: as it stands in the results.
        folder: with descriptions of kernels; None for those of the package alone.
        ir_hashes: of what was measured, by the `-D` values; several where devices had different versions.
        chosen: coarsened configurations to show, in this order.
    """
    try:
        benchmark = _found(name, folder)
        kernels = _Kernels(benchmark)
        # Of all, so that each is compiled, and a failure is shown as such.
        same = [{kernels.ir_hash(values)} == stored for values, stored in ir_hashes.items()]
    except InternalError:
        raise
    except CoarsenError as error:
        return (), f"The source can't be shown: {error}", None
    note = "" if all(same) else CHANGED
    groups: dict[Variant, list[Chosen]] = {}
    for each in chosen:
        groups.setdefault(each.row.candidate.code_variant(), []).append(each)
    pairs = tuple(
        _pair(benchmark, shown, own, kernels.lowered(shown.definitions)) for shown, own in groups.items()
    )
    if pairs:
        return pairs, note, None
    try:
        kernel = kernels.lowered(next(iter(ir_hashes), ()))
        return (), note, before_of(benchmark, kernel, benchmark.dimensions[0])
    except RefusalError as refusal:
        return (), "; ".join(filter(None, (note, f"It can't be coarsened: {refusal}"))), None


class _Kernels:
    """The kernels of a source with some `-D` values, each lowered once. Methods raise as `lower` does."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._unit = cache(lambda values: compile_source(benchmark.code, build_options(benchmark, values)))
        self.lowered = cache(lambda values: self._lower(benchmark.kernel, values))

    def ir_hash(self, definitions: Definitions) -> str:
        """Return the hash that measurements made now would have."""
        others = [self._lower(kernel, definitions) for kernel in self._benchmark.other_kernels]
        return ir_hash_of(self.lowered(definitions), self._benchmark, others)

    def _lower(self, kernel: str, definitions: Definitions) -> Kernel:
        return lower(self._unit(definitions), kernel)


def _found(name: str, folder: Path | None) -> Benchmark:
    try:
        return find_measured(name, folder)
    except InvalidInputError as error:
        if folder is not None:
            raise
        hint = "--kernels names the folder that has its description (NAME.toml)"
        raise InvalidInputError(f"{error}; {hint}") from None


# A kernel's source beside its coarsened forms, each shown once however many places have it as their best.
#
# source ─▶ marked lines along the dimension ─┐
# kernel ─▶ coarsened as it was measured      ┴─▶ Pair

# Coarsened kernels of large factors have thousands of lines that are all alike.
MOST_LINES = 400

SAME = "This is, byte for byte, what was measured"
OTHER = "This is what coarsen writes today; what was measured was written otherwise"
AS_OTHER_FORM = "It was measured in another form of code; this is the same coarsening as OpenCL C"


def _pair(benchmark: Benchmark, shown: Variant, asked: Sequence[Chosen], kernel: Kernel) -> Pair:
    places, whose = tuple(each.place for each in asked), tuple(each.whose for each in asked)
    try:
        dimensions = (*(each.dimension for each in shown.coarsenings), *benchmark.dimensions)
        before = before_of(benchmark, kernel, dimensions[0])
        made = run_pipeline(kernel, shown)
        lines = made.opencl_c.removesuffix("\n").split("\n")
    except RefusalError as refusal:
        return Pair(str(shown), places, whose, refusal=str(refusal))
    options = build_options(benchmark, shown.definitions)
    return Pair(
        str(shown),
        places,
        whose,
        before,
        lines=tuple(lines[:MOST_LINES]),
        more=max(0, len(lines) - MOST_LINES),
        remarks=tuple(dict.fromkeys(_remarks(made, asked, options))),
    )


def _remarks(made: CoarsenedKernel, asked: Iterable[Chosen], options: tuple[str, ...]) -> Iterator[str]:
    for row in (each.row for each in asked):
        if row.environment.form != "opencl_c":
            yield AS_OTHER_FORM
        elif row.code_hash:
            yield SAME if code_of(made, "opencl_c", options).hash == row.code_hash else OTHER


def before_of(benchmark: Benchmark, kernel: Kernel, dimension: int) -> Explanation:
    """A kernel's source with its marks along a dimension. Raises RefusalError where it can't be coarsened so."""
    return explain_kernel(analyse(kernel, dimension), opencl_c_of(benchmark.code))
