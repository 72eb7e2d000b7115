"""The kernel that `coarsen predict` is given: a file of its own, or one whose description tells of its launch too.

kernel.cl, kernel.ll, kernel.bc   the kernel; its launch is unknown
kernel.toml, sgemm                the kernel, its build options, its local size, its inputs
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel

if TYPE_CHECKING:
    from coarsen.tuning.workload.benchmark import Benchmark

LocalSize = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """The kernel as the command line gives it: its word, the options that go with a plain file, the preset."""

    word: str
    kernel: str | None
    options: str
    preset: str


@dataclass(frozen=True, slots=True)
class KernelInput:
    """A lowered kernel and its file, and the local size of its launch where it is known."""

    kernel: Kernel
    path: Path
    local_size: LocalSize | None = None


@dataclass(frozen=True, slots=True)
class DescribedInput:
    """A kernel that can be run: `benchmark` makes its inputs, `name` is what a plan calls it."""

    input: KernelInput
    benchmark: Benchmark
    name: str | Path


def read_input(wanted: KernelRequest) -> KernelInput:
    """Find and lower a kernel that is not to be run.

    Raises:
        InvalidInputError: no such file or benchmark, a mistake in it, or options that it leaves no room for.
        RefusalError: the kernel can't be read.
    """
    path = Path(wanted.word)
    # What neither is a file nor looks like one is a name of the suite.
    if path.suffix != ".toml" and (path.suffix or path.exists()):
        return KernelInput(lower_file(path, wanted.kernel, wanted.options), path)
    # Imported late: a plain kernel does without the suite.
    from coarsen.opencl_bench.workloads.lookup import find_benchmark

    name = path.resolve() if path.suffix == ".toml" else wanted.word
    return _described(wanted, find_benchmark(name), name).input


def read_measurable(wanted: KernelRequest) -> DescribedInput:
    """Find and lower a kernel that is to be run; of `kernel.cl` by the description beside it.

    Raises:
        InvalidInputError: as `read_input`; there is no description, or its arguments aren't the kernel's.
        RefusalError: the kernel can't be read.
    """
    # Imported late: it loads the store's packages.
    from coarsen.cli.bench.inputs import benchmarks_of

    ((benchmark, name),) = benchmarks_of([wanted.word])
    return _described(wanted, benchmark, name)


@dataclass(frozen=True, slots=True)
class LaunchOfInput:
    """A kernel, the sizes of its launch as far as its description tells them, and that description."""

    input: KernelInput
    global_size: tuple[int, ...] | None = None
    arguments: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    described: DescribedInput | None = None


def read_launch(wanted: KernelRequest, local_size: LocalSize | None, *, measurable: bool = False) -> LaunchOfInput:
    """Find and lower a kernel, and its launch where it is described.

    Args:
        wanted: the kernel.
        local_size: of the launch; the description's if None.
        measurable: whether it must be described; of `kernel.cl` that is in the description beside it.

    Raises:
        InvalidInputError: as `read_input`, or `read_measurable`.
        RefusalError: the kernel can't be read.
    """
    path = Path(wanted.word)
    if measurable:
        return _described_launch(read_measurable(wanted), wanted, local_size)
    if path.suffix != ".toml" and (path.suffix or path.exists()):
        return LaunchOfInput(read_input(wanted))
    # Imported late: a plain kernel does without the suite.
    from coarsen.opencl_bench.workloads.lookup import find_benchmark

    name = path.resolve() if path.suffix == ".toml" else wanted.word
    return _described_launch(_described(wanted, find_benchmark(name), name), wanted, local_size)


def _described_launch(
    described: DescribedInput, wanted: KernelRequest, local_size: LocalSize | None
) -> LaunchOfInput:
    from coarsen.tuning.workload.launch_sizes import sizes_of_launch

    own = local_size or described.input.local_size
    if own is None:
        return LaunchOfInput(described.input, described=described)
    sizes, arguments = sizes_of_launch(described.benchmark, described.input.kernel, wanted.preset, own)
    return LaunchOfInput(described.input, sizes.global_size[: len(own)], arguments, described)


def _described(wanted: KernelRequest, benchmark: Benchmark, name: str | Path) -> DescribedInput:
    if wanted.kernel is not None or wanted.options:
        raise InvalidInputError(
            f"{wanted.word}: its description says which kernel it is and how it is built; leave out -k, -D, -I, "
            "--cl-std and --build-option"
        )
    # None where the description leaves it open.
    local_size = benchmark.preset(wanted.preset).local_size or None
    path = benchmark.code if isinstance(benchmark.code, Path) else Path(wanted.word)
    with naming_file(path):
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    return DescribedInput(KernelInput(kernel, path, local_size), benchmark, name)
