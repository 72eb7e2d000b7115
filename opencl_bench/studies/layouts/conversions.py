"""Measure what it costs the host to pack and unpack the arrays of what is compared in the end.

python -m coarsen.opencl_bench.studies.layouts.conversions STORE|FILE … -o conversions.json [--kernels NAME …]

Once for each kernel, sizes and way in which its arrays lie: every array that lies otherwise is packed, those that
are outputs unpacked, by NumPy, several times in turns. What the file has is not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.errors import InvalidInputError
from coarsen.files import read_file, replace_file
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.measure.laid_out import Arrangements, arrangements_of
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.layouts.entrants import best_of_each
from coarsen.opencl_bench.studies.layouts.sizes import Size
from coarsen.opencl_bench.studies.layouts.spaces import RecordSpace, chosen_spaces
from coarsen.opencl_bench.studies.layouts.times import all_times, preset_of, read_rows
from coarsen.opencl_bench.sweep.compile_service import build_options, code_of
from coarsen.opencl_bench.workloads.benchmark import Workload
from coarsen.pipeline import carry_out
from coarsen.runtime.layouts.packing import packed, unpacked
from coarsen.variant.variant import Variant

REPETITIONS = 7


@dataclass(frozen=True, slots=True)
class Conversion:
    """The seconds of packing before a launch, and of unpacking after it; medians of repetitions."""

    pack: float
    unpack: float

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.pack + self.unpack


def key_of(space: RecordSpace, preset: str, variant: Variant) -> str:
    """Return the name of a conversion: the kernel, its sizes, how the arrays lie."""
    return f"{space.name}, {preset}: {'; '.join(map(str, variant.arrays))}"


def conversion(space: RecordSpace, preset: str, variant: Variant) -> Conversion:
    """Measure the conversion of a variant's arrays.

    Raises:
        InvalidInputError, RefusalError: the kernel can't be laid out so.
        LaunchError: its arrays can't be packed.
    """
    benchmark = space.benchmark
    workload = benchmark.workload(preset, 0, variant.local_size, variant.definitions)
    options = build_options(benchmark, variant.definitions)
    made = carry_out(lower(benchmark.code, benchmark.kernel, options), Variant(arrays=variant.arrays))
    code = code_of(CoarsenedKernel.of(made), "opencl_c", options)
    arrangements = arrangements_of(workload, code, workload.launches)
    times = [_once(workload, arrangements) for _ in range(REPETITIONS)]
    return Conversion(median([pack for pack, _ in times]), median([unpack for _, unpack in times]))


def _once(workload: Workload, arrangements: Arrangements) -> tuple[float, float]:
    start = time.perf_counter()
    arrays = {name: packed(workload.buffers[name], each) for name, each in arrangements.items()}
    between = time.perf_counter()
    for name in arrays.keys() & set(workload.outputs):
        unpacked(arrays[name], arrangements[name])
    return between - start, time.perf_counter() - between


def read_conversions(path: Path) -> dict[str, Conversion]:
    """Read a file of conversions, if there is one. Raises InvalidInputError where it is no such file."""
    if not path.exists():
        return {}
    try:
        kept: Mapping[str, Mapping[str, float]] = json.loads(read_file(path))
        return {key: Conversion(float(each["pack"]), float(each["unpack"])) for key, each in kept.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInputError(f"{path}: no file of conversions") from None


def write_conversions(found: Mapping[str, Conversion], path: Path) -> None:
    """Write a file of conversions. Raises InvalidInputError where it can't be written."""
    content = {key: {"pack": each.pack, "unpack": each.unpack} for key, each in sorted(found.items())}
    replace_file((json.dumps(content, indent=1) + "\n").encode(), path)


def wanted(rows: Sequence[str], kernels: Sequence[str]) -> Iterator[tuple[RecordSpace, str, Variant]]:
    """Yield the conversions that are compared in the end, of any device, at both sizes."""
    for measured in all_times(chosen_spaces(kernels), read_rows(rows)).values():
        for times in measured:
            for variant in dict.fromkeys(best_of_each(times).values()):
                if variant.arrays:
                    presets = (preset_of(times.environment, size) for size in Size)
                    yield from ((times.space, preset, variant) for preset in presets)


def main(words: Sequence[str] | None = None) -> int:
    """Measure what the file lacks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="+", metavar="STORE|FILE")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file, which is added to")
    parser.add_argument("--kernels", nargs="*", default=[], metavar="NAME", help="without records-; else all")
    asked = parser.parse_args(words)
    found = read_conversions(asked.output)
    # Also where no layout is the best anywhere, there is a file that says so.
    write_conversions(found, asked.output)
    for space, preset, variant in wanted(asked.rows, asked.kernels):
        key = key_of(space, preset, variant)
        if key not in found:
            found[key] = conversion(space, preset, variant)
            write_conversions(found, asked.output)
            print(f"{key}: {found[key].seconds * 1e3:.2f} ms", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
