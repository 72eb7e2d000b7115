"""Criterion 15: random launches of what is shipped of each kernel that adapts, at sizes never tuned for.

python -m coarsen.opencl_bench.studies.input_launches STORE … --device NAME [--kernels NAME …] [--json FILE]

    sizes and contents drawn ─▶ numbers of the default version's launch ─▶ the tuned file's functions ─▶ version
                             ─▶ its launches between guard zones ─▶ compared with the reference

Each input is launched five times: as is chosen with supplied features, and without; once more as chosen, with
what the first run left in scratch; any shipped version; the default one, which dispatch falls back to. A version
that can't be launched at an input falls back as well. Inputs are small, so that references take no time.
"""

from __future__ import annotations

import random
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coarsen.devices.selection import find_device
from coarsen.dispatch.choosing import Chooser, chooser
from coarsen.errors import InternalError, InvalidInputError
from coarsen.opencl_bench.inputs.adaptive_points import launched_numbers
from coarsen.opencl_bench.inputs.drawing import is_within
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.machine import BuildError, Executor, LaunchError, UndividedError
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.studies.input_command import device_parser, say_no_rows
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_runs import add_lines, run_line
from coarsen.opencl_bench.studies.input_shipped import ShippedKernel, VersionCodes, shipped_kernels
from coarsen.opencl_bench.studies.input_tables import table
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.opencl_bench.workloads.benchmark import Array, Benchmark, Launch, Preset, Workload
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.opencl_bench.workloads.input_space import InputSpace
from coarsen.variant.variant import Variant

LAUNCHES = 500
# Sizes are drawn from the low end of their range on, as far as this share of its octaves.
_OCTAVES = 0.5
# Buffers of an input hold so many bytes at most, where the least sizes allow it.
_MOST_BYTES = 1 << 22
_DRAWS = 200


@dataclass
class Counts:
    """What came of a kernel's launches."""

    kernel: str
    launches: int = 0
    fell_back: int = 0
    wrong: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


def drawn_size(space: InputSpace, draw: random.Random) -> dict[str, int]:
    """Return sizes and contents of a space at random: mostly odd ones, all within its limits.

    Raises:
        InvalidInputError: hardly any sizes are within the limits.
    """
    for _ in range(_DRAWS):
        size = {name: _drawn(space, name, draw) for name in space.ranges} | dict(space.fixed)
        if is_within(space, size):
            return {**size, **draw.choice(space.contents)}
    raise InvalidInputError(f"hardly any sizes are within {' and '.join(space.limits)}")


def _drawn(space: InputSpace, name: str, draw: random.Random) -> int:
    low, high = space.ranges[name]
    value: float = low * (high / low) ** (_OCTAVES * draw.random())
    if name in space.powers_of_two:
        return int(1 << max(round(value).bit_length() - 1, (low - 1).bit_length()))
    multiple = space.multiples.get(name, 1)
    return min(max(round(value / multiple) * multiple, low), high)


@dataclass(frozen=True)
class Drawn:
    """An input that was drawn: the preset `drawn` of a benchmark, and its workload with contents of a seed."""

    benchmark: Benchmark
    workload: Workload
    seed: int

    @property
    def size(self) -> dict[str, int]:
        """Its sizes, by name."""
        return dict(self.benchmark.preset("drawn").size)

    @property
    def byte_count(self) -> int:
        """The bytes that its buffers hold."""
        return sum(buffer.nbytes for buffer in self.workload.buffers.values())

    def launches(self, variant: Variant) -> tuple[Launch, ...]:
        """Return the launches of a version; where arguments may be of the contents, with those of this seed.

        Args:
            variant: the version.

        Raises:
            InvalidInputError: a work-group size that the algorithm can't use.
        """
        return self.benchmark.real_launches("drawn", variant.local_size, variant.definitions, self.seed)


@dataclass(frozen=True)
class Launcher:
    """Launches versions of one kernel.

    Attributes:
        shipped: the kernel, with its tuned file.
        machine: the device.
        codes: of the file's versions.
    """

    shipped: ShippedKernel
    machine: OpenClMachine
    codes: tuple[Code, ...]

    def count(self, launches: int, seed: int = 0) -> Counts:
        """Return what came of random launches; one that failed counts as a wrong one.

        Args:
            launches: how many.
            seed: of the draw.
        """
        kernel, file = self.shipped.stored.kernel, self.shipped.file
        counts = Counts(kernel.name)
        draw = random.Random(seed ^ zlib.crc32(kernel.name.encode()))
        choosers = [chooser(file, file.tree), chooser(file, file.tree_without_supplied or file.tree)]
        while counts.launches < launches:
            drawn = _small_input(kernel, draw, counts.launches)
            chosen = [self._chosen(each, drawn) for each in choosers]
            versions = (*chosen, chosen[0], draw.randrange(len(file.versions)), file.default)
            try:
                executor = self.machine.place(drawn.workload)
                reference = drawn.workload.reference
                expected = reference() if reference else self._of_default(executor, drawn)
                for turn, version in enumerate(versions[: launches - counts.launches]):
                    self._launch(executor, drawn, expected, version, counts, is_again=turn == 2)
            except LaunchError as error:
                # It is one launch, of which nothing came; others on these buffers would prove nothing.
                counts.launches += 1
                counts.wrong.append(f"{drawn.size}: {error}")
        return counts

    def _chosen(self, choose: Chooser, drawn: Drawn) -> int:
        kernel, file = self.shipped.stored.kernel, self.shipped.file
        names = [argument.name for argument in file.arguments]
        numbers = launched_numbers(kernel, drawn.benchmark, "drawn", names, drawn.workload.buffers, drawn.seed)
        version = choose.version([numbers[name] for name in choose.features.inputs])
        return file.default if version is None else version

    def _of_default(self, executor: Executor, drawn: Drawn) -> Mapping[str, Array]:
        default = self.shipped.file.default
        variant = self.shipped.file.versions[default].variant
        executor.reset()
        executor.load(self.codes[default], variant, None, drawn.launches(variant))(Clock.SUM)
        return executor.outputs()

    def _launch(
        self,
        executor: Executor,
        drawn: Drawn,
        expected: Mapping[str, Array],
        version: int,
        counts: Counts,
        is_again: bool,
    ) -> None:
        file = self.shipped.file
        try:
            variant = file.versions[version].variant
            job = executor.load(self.codes[version], variant, None, drawn.launches(variant))
        except (InvalidInputError, UndividedError, BuildError):
            counts.fell_back += 1
            variant, version = file.versions[file.default].variant, file.default
            job = executor.load(self.codes[version], variant, None, drawn.launches(variant))
        if is_again:
            executor.restore()
        else:
            executor.reset()
        job(Clock.SUM)
        counts.launches += 1
        where = f"{drawn.size}, {variant}"
        counts.wrong += [f"{where}: {each}" for each in compare(executor.outputs(), expected, drawn.workload)]
        counts.outside += [f"{where}: {name}" for name in executor.violated()]


def _small_input(kernel: AdaptiveKernel, draw: random.Random, seed: int) -> Drawn:
    """An input that was drawn, with buffers that are not large."""
    smallest: Drawn | None = None
    for _ in range(8):
        preset = Preset(drawn_size(kernel.inputs, draw), kernel.local_sizes[0])
        benchmark = replace(kernel.benchmark, presets={"drawn": preset, **kernel.benchmark.presets})
        drawn = Drawn(benchmark, benchmark.workload("drawn", seed), seed)
        if smallest is None or drawn.byte_count < smallest.byte_count:
            smallest = drawn
        if drawn.byte_count <= _MOST_BYTES:
            break
    if smallest is None:
        raise InternalError("no input was drawn")
    return smallest


def measured(
    stores: Sequence[str], names: Sequence[str], device: str, launches: int = LAUNCHES
) -> Iterator[Counts]:
    """Yield what came of each kernel's launches. Raises as `shipped_kernels` does."""
    found = find_device(device)
    compiled = VersionCodes()
    for shipped in shipped_kernels(stores, names, found):
        codes = tuple(compiled.of(shipped.stored, version.variant) for version in shipped.file.versions)
        yield Launcher(shipped, OpenClMachine(found), codes).count(launches)


def lines(found: Sequence[Counts]) -> Iterator[str]:
    """Yield the table of some kernels, then what was wrong."""
    rows = [
        [each.kernel, str(each.launches), str(each.fell_back), str(len(each.wrong)), str(len(each.outside))]
        for each in found
    ]
    yield from table(["kernel", "launches", "fell back", "wrong", "outside of a buffer"], rows)
    for each in found:
        yield from (f"- {each.kernel}, {text}" for text in (*each.wrong[:3], *each.outside[:3]))


def run_lines(found: Sequence[Counts], device: str) -> Iterator[str]:
    """Yield the lines that `input_acceptance --runs` reads."""
    yield run_line("15a", device, sum(len(each.wrong) for each in found))
    yield run_line("15b", device, sum(len(each.outside) for each in found))


def main(words: Sequence[str] | None = None) -> int:
    """Print the table of a device."""
    parser = device_parser(__doc__, "the numbers of criterion 15")
    parser.add_argument("--launches", type=int, default=LAUNCHES, metavar="NUMBER", help="of each kernel")
    asked = parser.parse_args(words)
    found = [*measured(asked.stores, asked.kernels, asked.device, asked.launches)]
    if not found:
        say_no_rows()
        return 1
    print("\n".join(lines(found)))
    if asked.json:
        add_lines(asked.json, run_lines(found, find_device(asked.device).platform_name))
    return 1 if any(each.wrong or each.outside for each in found) else 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
