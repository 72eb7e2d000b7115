"""Every step on one kernel, shown to a person: `python -m coarsen.opencl_bench.demo`.

lower ─▶ analyse ─▶ predict for a GPU that isn't there ─▶ rewrite ─▶ run on a device that is, checked and timed
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Mapping
from functools import partial

import pyopencl as cl
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import divergent_regions
from coarsen.api import predict
from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.drop_in.program import Program
from coarsen.errors import CoarsenError, VerificationError
from coarsen.frontend.clang import find_clang
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.opencl_machine import devices_to_measure
from coarsen.opencl_bench.measure.run import DeviceWorkload, KernelChoice, LaunchableKernel, run_workload
from coarsen.opencl_bench.measure.speedup import median, speedup
from coarsen.opencl_bench.measure.timing import in_turns
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Launch, Workload
from coarsen.opencl_bench.workloads.lookup import benchmark
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Coarsening, Configuration, configuration

KERNEL = "sgemm"
ABSENT_DEVICE = "tahiti"
OTHER_CONFIGURATIONS = ((2, 0), (4, 0), (8, 0), (2, 1), (4, 1), (8, 1))
REPETITIONS = 9
SHOWN_LINES = 45


def main() -> int:
    """Run the demonstration; returns the exit code."""
    # Remarks of a vendor's compiler are not shown here.
    warnings.simplefilter("ignore", cl.CompilerWarning)
    console = Console(highlight=False, soft_wrap=True)
    try:
        demonstrate(console)
    except CoarsenError as error:
        print(f"coarsen: error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def demonstrate(console: Console) -> None:
    """Show every step on `console`. Raises CoarsenError."""
    chosen = benchmark(KERNEL)
    kernel = lower(chosen.code, chosen.kernel, chosen.build_options)
    _show_lowering(console, chosen, kernel)
    _show_divergence(console, kernel)
    factor = show_predictions(console, chosen)
    _show_rewritten(console, kernel, configuration([Coarsening(factor)]))
    candidates = dict.fromkeys([(factor, 0), *OTHER_CONFIGURATIONS])
    console.rule("[bold]5. Run on what is here")
    for device in devices_to_measure():
        _show_measurement(console, chosen, device, list(candidates))


def _show_lowering(console: Console, chosen: Benchmark, kernel: Kernel) -> None:
    console.rule("[bold]1. Lower")
    clang = find_clang()
    opcodes = Counter(instruction.opcode for instruction in kernel.instructions())
    common = ", ".join(f"{count} {opcode}" for opcode, count in opcodes.most_common(5))
    console.print(Syntax(_body_of(chosen.source), "c", background_color="default"))
    console.print(
        f"clang {clang.version()} from {clang.origin} lowers [bold]{chosen.kernel_file.name}[/] to LLVM IR:"
    )
    console.print(f"{opcodes.total()} instructions in {len(kernel.blocks)} blocks ({common}, …)\n")


def _show_divergence(console: Console, kernel: Kernel) -> None:
    console.rule("[bold]2. Analyse")
    total = kernel.length
    for dimension in (0, 1):
        divergence = Divergence(kernel, dimension)
        divergent = sum(divergence.is_divergent(instruction) for instruction in kernel.instructions())
        regions = len(divergent_regions(divergence))
        console.print(
            f"along dimension {dimension}: {divergent} of {total} instructions differ between work-items, "
            f"{regions} divergent regions; the other {total - divergent} are shared by merged work-items"
        )
    console.print()


def show_predictions(console: Console, chosen: Benchmark) -> int:
    """Show the prediction of the device's cascade, and return its factor."""
    console.rule(f"[bold]3. Predict for {ABSENT_DEVICE}, which is not in this machine")
    prediction = predict(chosen.kernel_file, device=ABSENT_DEVICE, kernel=chosen.kernel, model="cascade")
    for step in prediction.steps:
        answer = "coarsen further" if step.coarsen_further else "stop"
        console.print(
            f"at factor {step.factor}: a further step helps with probability {step.probability:.2f}: {answer}"
        )
    console.print(f"factor predicted by the published cascade: [bold]{prediction.factor}[/] (coarsen predict)")
    console.print(f"({chosen.name} is one of its training kernels, so this is not an independent prediction)\n")
    return prediction.factor


def _show_rewritten(console: Console, kernel: Kernel, chosen: Configuration) -> None:
    console.rule("[bold]4. Rewrite")
    source = CoarsenedKernel(coarsen_kernel(kernel, chosen), chosen, ()).opencl_c
    lines = source.splitlines()
    console.print(Syntax("\n".join(lines[:SHOWN_LINES]), "c", background_color="default"))
    if len(lines) > SHOWN_LINES:
        console.print(f"… and {len(lines) - SHOWN_LINES} more lines")
    console.print()


def _show_measurement(
    console: Console, chosen: Benchmark, device: DeviceDescription, candidates: list[tuple[int, int]]
) -> None:
    context = cl.Context([open_device(device)])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    workload = chosen.workload("cpu")
    kernels = {"original": coarsened_kernels(context, chosen, 1, 0)}
    for factor, dimension in candidates:
        kernels[f"factor {factor}, dimension {dimension}"] = coarsened_kernels(context, chosen, factor, dimension)
    verify(queue, workload, kernels)
    on_device = DeviceWorkload(queue, workload)
    runs = [partial(_timed_run, on_device, workload, choose) for choose in kernels.values()]
    samples = dict(zip(kernels, in_turns(runs, REPETITIONS, warm_up=1), strict=True))
    console.print(_table(device, samples))
    console.print(
        "all results equal the NumPy reference. "
        f"The second row is the cascade's factor for {ABSENT_DEVICE}: other devices want other factors.\n"
    )


def coarsened_kernels(context: cl.Context, chosen: Benchmark, factor: int, dimension: int) -> KernelChoice:
    """Return a benchmark's kernel, built for a context and coarsened; factor 1 is the original."""
    program = Program(context, chosen.source, factor=factor, dim=dimension)
    program.build(list(chosen.build_options))
    kernel: LaunchableKernel = getattr(program, chosen.kernel)

    def choose(_launch: Launch) -> LaunchableKernel:
        return kernel

    return choose


def verify(queue: cl.CommandQueue, workload: Workload, kernels: Mapping[str, KernelChoice]) -> None:
    """Run each kernel once. Raises VerificationError where results or guard zones are not as they should be."""
    expected = workload.expected()
    for name, choose in kernels.items():
        result = run_workload(queue, workload, choose)
        wrong = compare(result.outputs, expected, workload)
        if wrong or not result.guards_intact:
            raise VerificationError(f"{name}: {'; '.join(wrong) or 'wrote outside of a buffer'}")


def _timed_run(on_device: DeviceWorkload, workload: Workload, choose: KernelChoice) -> int:
    on_device.restore(workload.outputs)
    return on_device.execute(choose)


def _table(device: DeviceDescription, samples: Mapping[str, list[int]]) -> Table:
    table = Table(title=f"{KERNEL} on {device.name} ({device.platform_name})", title_justify="left")
    table.add_column("kernel")
    table.add_column("median", justify="right")
    table.add_column("speed-up (95 % interval)", justify="right")
    table.add_column("result")
    for name, nanoseconds in samples.items():
        gain = "" if name == "original" else str(speedup(samples["original"], nanoseconds))
        table.add_row(name, f"{median(nanoseconds) / 1e6:.2f} ms", gain, "verified")
    return table


def _body_of(source: str) -> str:
    """A kernel's source from its first `kernel` line on, without the comment above it."""
    return source[source.index("kernel void") :].rstrip()


if __name__ == "__main__":
    sys.exit(main())
