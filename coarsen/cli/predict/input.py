"""The kernel that `coarsen predict` is given: a file of its own, or one whose description tells of its launch too.

kernel.cl, kernel.ll, kernel.bc   the kernel; its launch is unknown
kernel.toml, sgemm                the kernel, its build options, its launch, its inputs
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel

if TYPE_CHECKING:
    from coarsen.tuning.workload.benchmark import Benchmark


@dataclass(frozen=True, slots=True)
class KernelInput:
    """A lowered kernel, and what a description says of its launch, where there is one.

    Attributes:
        kernel: as it was lowered.
        path: of its file.
        benchmark: makes its inputs; None without a description, as all that follows.
        name: what a plan calls the benchmark.
        local_size: of the launch; None where the description leaves it open, too.
        global_size: of the launch; None where the local size is open, too.
        arguments: whole arguments of the launch, by name.
    """

    kernel: Kernel
    path: Path
    benchmark: Benchmark | None = None
    name: str | Path = ""
    local_size: tuple[int, ...] | None = None
    global_size: tuple[int, ...] | None = None
    arguments: Mapping[str, int] = field(default_factory=dict)


def read_input(
    word: str,
    kernel: str | None,
    options: str,
    preset: str,
    local_size: tuple[int, ...] | None,
) -> KernelInput:
    """Find and lower a kernel, with its launch where it is described.

    Args:
        word: a file, or a name of the suite.
        kernel: which of a plain file.
        options: how a plain file is built.
        preset: names the sizes of a description.
        local_size: of the launch; the description's if None.

    Raises:
        InvalidInputError: no such file or benchmark, a mistake in it, or options that it leaves no room for.
        RefusalError: the kernel can't be read.
    """
    path = Path(word)
    # What neither is a file nor looks like one is a name of the suite.
    if path.suffix != ".toml" and (path.suffix or path.exists()):
        return KernelInput(lower_file(path, kernel, options), path)
    # Imported late: a plain kernel does without the suite.
    from coarsen.opencl_bench.workloads.lookup import find_benchmark

    name: str | Path = path.resolve() if path.suffix == ".toml" else word
    benchmark = find_benchmark(name)
    if kernel is not None or options:
        raise InvalidInputError(
            f"{word}: its description says which kernel it is and how it is built; leave out -k, -D, -I, "
            "--cl-std and --build-option"
        )
    own = local_size or benchmark.preset(preset).local_size or None
    path = benchmark.code if isinstance(benchmark.code, Path) else path
    with naming_file(path):
        lowered = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    if own is None:
        return KernelInput(lowered, path, benchmark, name)
    from coarsen.tuning.workload.launch_sizes import sizes_of_launch

    sizes, arguments = sizes_of_launch(benchmark, lowered, preset, own)
    return KernelInput(lowered, path, benchmark, name, own, sizes.global_size[: len(own)], arguments)
