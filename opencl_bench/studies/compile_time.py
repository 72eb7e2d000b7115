"""Time that coarsening takes: `python -m coarsen.opencl_bench.studies.compile_time`.

Three questions, each answered by ratios within this one run, since machines are noisy:

1. for a kernel of about 60 IR instructions, do analysis, factor 4 and OpenCL C text together take no longer than
   `clang -O2 -S -emit-llvm` takes on the same kernel?
2. does the cost grow linearly with instructions × factor, up to 2,000 instructions and factor 32?
3. how long does a prediction take by each model: `coarsen predict` from a cold start, a call in a running process,
   loading the model?
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from coarsen.api import predict
from coarsen.backend.opencl_c import write_opencl_c
from coarsen.features import feature_tables
from coarsen.frontend.clang import find_clang
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models import load_model
from coarsen.models.default import load_default
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Coarsening

WANTED_INSTRUCTIONS = 60
PREDICTED_DEVICE = "tahiti"
STATEMENTS = (4, 12, 36, 72, 150)
FACTORS = (1, 2, 4, 8, 16, 32)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=7, help="timed runs of each step (default 7)")
    repetitions = parser.parse_args().repetitions
    console = Console()
    compare_with_clang(console, repetitions)
    show_growth(console)
    time_prediction(console, repetitions)


def compare_with_clang(console: Console, repetitions: int) -> None:
    """The benchmark nearest to 60 instructions: coarsening against clang -O2, interleaved."""
    lowered = {name: lower(b.code, b.kernel, b.build_options) for name, b in SUITE.items()}
    name = min(lowered, key=lambda key: abs(count(lowered[key]) - WANTED_INSTRUCTIONS))
    clang_seconds, own_seconds = [], []
    for _ in range(repetitions + 1):
        clang_seconds.append(seconds(lambda: run_clang(SUITE[name].kernel_file)))
        own_seconds.append(seconds(lambda: coarsen_to_text(lowered[name], 4)))
    clang_time, own_time = median(clang_seconds[1:]), median(own_seconds[1:])
    console.print(
        f"{name}, {count(lowered[name])} instructions: analysis + factor 4 + OpenCL C {own_time * 1e3:.1f} ms, "
        f"clang -O2 -S -emit-llvm {clang_time * 1e3:.1f} ms, ratio {own_time / clang_time:.2f}"
    )


def show_growth(console: Console) -> None:
    """Time per instruction and replica over sizes and factors; level where growth is linear."""
    table = Table(title="analysis + replication + OpenCL C: µs per (instruction × factor), total in brackets")
    table.add_column("instructions", justify="right")
    for factor in FACTORS:
        table.add_column(f"factor {factor}", justify="right")
    for statements in STATEMENTS:
        kernel = lower(synthetic_source(statements))
        size = count(kernel)
        cells = []
        for factor in FACTORS:
            taken = seconds(partial(coarsen_to_text, kernel, factor))
            cells.append(f"{taken / size / factor * 1e6:.0f} ({taken:.2f} s)")
        table.add_row(str(size), *cells)
    console.print(table)


def time_prediction(console: Console, repetitions: int) -> None:
    """A prediction by each model, cold and warm, the two models in turn."""
    kernel = SUITE["sgemm"].kernel_file
    table = Table(title=f"a prediction for {PREDICTED_DEVICE}: median (first) of {repetitions}, in milliseconds")
    table.add_column("model")
    for heading in ("command, start to end", "call, warm", "the model on features", "loading the model"):
        table.add_column(heading, justify="right")
    actions = {model: prediction_steps(model, kernel) for model in ("default", "cascade")}
    times: dict[str, list[list[float]]] = {model: [[] for _ in steps] for model, steps in actions.items()}
    for _ in range(repetitions):
        for model, steps in actions.items():
            for taken, step in zip(times[model], steps, strict=True):
                taken.append(seconds(step) * 1e3)
    for model, columns in times.items():
        table.add_row(model, *(f"{median(taken):.1f} ({taken[0]:.1f})" for taken in columns))
    console.print(table)


def prediction_steps(model: str, kernel: Path) -> list[Callable[[], object]]:
    """A prediction by a model: the whole command, the call, the model's part of it, loading the model."""
    start = "import sys; from coarsen.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["predict", str(kernel), "--device", PREDICTED_DEVICE, "--model", model]
    run = partial(subprocess.run, [sys.executable, "-c", start, *words], check=True, capture_output=True)
    tables = feature_tables(lower(kernel))
    if model == "cascade":
        cascade = load_model(PREDICTED_DEVICE)
        call = partial(predict, kernel, device=PREDICTED_DEVICE, model="cascade")
        return [run, call, partial(cascade.predict, tables[0]), partial(load_model, PREDICTED_DEVICE)]
    answer = partial(load_default().predict, *tables, DEVICE_DESCRIPTORS[PREDICTED_DEVICE])
    return [run, partial(predict, kernel, device=PREDICTED_DEVICE), answer, load_default]


def coarsen_to_text(kernel: Kernel, factor: int) -> str:
    """Analysis, replication and OpenCL C text of a lowered kernel."""
    return write_opencl_c(coarsen_kernel(kernel, [Coarsening(factor)])).text


def run_clang(source: Path) -> None:
    """Clang's own optimiser on a kernel, to LLVM IR text."""
    clang = find_clang()
    headers = ["-isystem", str(clang.header_folder)] if clang.header_folder else []
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "kernel.ll")
        options = ["-x", "cl", "-cl-std=CL1.2", "-target", "spir64-unknown-unknown", "-O2", "-S", "-emit-llvm"]
        result = clang.run([*options, *headers, str(source), "-o", output])
        if result.returncode:
            sys.exit(f"clang can't compile {source}: {result.stderr}")


def synthetic_source(statements: int) -> str:
    """A kernel with straight-line code, divergent branches and uniform loops in turn."""
    lines = []
    for i in range(statements):
        if i % 4 == 0:
            lines.append(
                f"if (data[id + {i}] > {i}) sum += data[id * 3 + {i}]; else sum ^= (sum << {1 + i % 7}) + id;"
            )
            lines.append("for (int j = 0; j < count; ++j) sum += j * data[j];")
        else:
            lines.append(f"sum = sum * {i + 3} + (data[id + {i}] >> {i % 5});")
    body = "\n    ".join(lines)
    return (
        "kernel void synthetic(global int *data, int count) {\n"
        f"    int id = get_global_id(0);\n    int sum = id;\n    {body}\n    data[id] = sum;\n}}\n"
    )


def count(kernel: Kernel) -> int:
    """The number of a kernel's IR instructions."""
    return sum(1 for _ in kernel.instructions())


def seconds(action: Callable[[], object]) -> float:
    """The wall-clock time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
