"""Whole programs without and with what is remembered, in turns: `python -m tests.layer.whole_programs FOLDER`.

    each program ─▶ coarsen run --tune ─▶ by itself, under the layer, by `coarsen run`, in turns ─▶ FOLDER/rows.csv
                                       └▶ recorded without and with the layer: the kernels' own time

It takes a quiet machine and some minutes a program. What is remembered stays in the folder: a second call only
measures.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import NamedTuple

import pyopencl

from coarsen.cli.run_report import read_counts
from coarsen.devices.drivers import prepare_loader
from coarsen.errors import aligned
from coarsen.layer.log import read_logs
from coarsen.layer.program import (
    SUBSTITUTE,
    layer_library,
    layers_value,
    recording_environment,
    run_to_end,
    substituting_environment,
)
from coarsen.layer.script import executable_of
from coarsen.layer.unit import shelf_folder

COARSEN = (sys.executable, "-m", "coarsen", "run")
# What programs say of their own times.
MEASURED = re.compile(r"Execution .*|(?<=: )[0-9.]+$|^ +[a-z0-9]+ *: [0-9.]+", re.MULTILINE)
HEAD = """\
import os
import sys

import numpy as np
import pyopencl as cl

wanted = os.environ.get("DEVICE", "")
devices = [each for platform in cl.get_platforms() for each in platform.get_devices() if wanted in platform.name]
context = cl.Context(devices[:1])
queue = cl.CommandQueue(context)
flags, generator = cl.mem_flags, np.random.default_rng(1)


def there(array):
    return cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=array)


"""
NBODY = """\
SOURCE = '''
kernel void accelerate(global const float4 *bodies, global float4 *found, int count)
{
    float4 own = bodies[get_global_id(0)], sum = 0;
    for (int i = 0; i < count; i++) {
        float4 away = bodies[i] - own;
        float square = away.x * away.x + away.y * away.y + away.z * away.z + 0.01f;
        sum += away * (bodies[i].w * rsqrt(square) / square);
    }
    found[get_global_id(0)] = sum;
}
'''
COUNT = 4096
program = cl.Program(context, SOURCE).build()
found = np.zeros((COUNT, 4), np.float32)
bodies, found_there = there(generator.random((COUNT, 4), np.float32)), there(found)
kernel = program.accelerate
for _ in range(40):
    kernel(queue, (COUNT,), (64,), bodies, found_there, np.int32(COUNT))
cl.enqueue_copy(queue, found, found_there)
print(f"{np.abs(found).sum():.3e}")
"""
PRODUCT = """\
SOURCE = '''
kernel void multiply(global const float *a, global const float *b, global float *c, int n)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
'''
N = 512
program = cl.Program(context, SOURCE).build()
a, b, c = (generator.random((N, N), np.float32) for _ in range(3))
a_there, b_there, c_there = map(there, (a, b, c))
kernel = program.multiply
for _ in range(30):
    kernel(queue, (N, N), (16, 16), a_there, b_there, c_there, np.int32(N))
cl.enqueue_copy(queue, c, c_there)
np.testing.assert_allclose(c, a @ b, rtol=1e-4)
print(f"{c.sum():.4e}")
"""
FDTD = """\
SOURCE = '''
kernel void electric(global float *ez, global const float *hx, global const float *hy, int width)
{
    int i = get_global_id(1) * width + get_global_id(0);
    if (get_global_id(0) && get_global_id(1))
        ez[i] += 0.5f * (hy[i] - hy[i - 1] - hx[i] + hx[i - width]);
}
kernel void magnetic(global const float *ez, global float *hx, global float *hy, int width)
{
    int i = get_global_id(1) * width + get_global_id(0);
    if (get_global_id(0) < width - 1 && get_global_id(1) < get_global_size(1) - 1) {
        hx[i] -= 0.5f * (ez[i + width] - ez[i]);
        hy[i] += 0.5f * (ez[i + 1] - ez[i]);
    }
}
'''
WIDTH, HEIGHT = 1024, 512
program = cl.Program(context, SOURCE).build()
fields = [np.zeros((HEIGHT, WIDTH), np.float32) for _ in range(3)]
fields[0][HEIGHT // 2, WIDTH // 2] = 1
ez, hx, hy = map(there, fields)
electric, magnetic = program.electric, program.magnetic
for _ in range(300):
    magnetic(queue, (WIDTH, HEIGHT), (32, 4), ez, hx, hy, np.int32(WIDTH))
    electric(queue, (WIDTH, HEIGHT), (32, 4), ez, hx, hy, np.int32(WIDTH))
cl.enqueue_copy(queue, fields[0], ez)
print(f"{np.abs(fields[0]).sum():.4e}")
"""
SCRIPTS = {"nbody.py": NBODY, "product.py": PRODUCT, "fdtd.py": FDTD}


class Program(NamedTuple):
    """A program's name in the table, and its words."""

    name: str
    words: tuple[str, ...]


_MEAN = "convolution_opencl=0m='1 1 1 1 1 1 1 1 1':0rdiv=1/9"


def programs(folder: Path, platform: str) -> list[Program]:
    """Return the programs; scripts are written into the folder."""
    found = []
    for name, chain in {
        "nlmeans": "format=yuv420p,hwupload,nlmeans_opencl,hwdownload,format=yuv420p",
        "avgblur": "format=rgba,hwupload,avgblur_opencl=sizeX=3,hwdownload,format=rgba",
        "unsharp": "format=yuv420p,hwupload,unsharp_opencl,hwdownload,format=yuv420p",
        "convolution": f"format=rgba,hwupload,{_MEAN},hwdownload,format=rgba",
    }.items():
        device = ("-init_hw_device", f"opencl=ocl,platform_name={platform}", "-filter_hw_device", "ocl")
        clip = ("-f", "lavfi", "-i", f"testsrc=d={0.4 if name == 'nlmeans' else 2}:s=1280x720")
        words = ("ffmpeg", "-loglevel", "error", *device, *clip, "-vf", chain, "-f", "md5", "-")
        found.append(Program(f"ffmpeg {name}", words))
    number = str(_platforms().index(platform))
    fft = ("clFFT-client", "--platform", number)
    found.append(Program("clFFT 64³", (*fft, "-x", "64", "-y", "64", "-z", "64", "-p", "20")))
    found.append(Program("clFFT 256²", (*fft, "-x", "256", "-y", "256", "-p", "20")))
    found.append(Program("clpeak", ("clpeak", "-p", number, "--global-bandwidth")))
    for name, text in SCRIPTS.items():
        (folder / name).write_text(HEAD + text)
        found.append(Program(name, (str(folder / name),)))
    return found


def _platforms() -> list[str]:
    # Drivers that pip installed are there for all programs.
    prepare_loader(is_for_program=True)
    return [each.name for each in pyopencl.get_platforms()]


@dataclass
class Outcome:
    """A row of the table. Times are medians, in seconds; `by` is with the start of `coarsen run`.

    `launches` are those of kernels of which something is remembered, `start` is what the layer took before them.
    """

    program: str
    note: str = ""
    chosen: str = ""
    launches: int = 0
    coarsened: int = 0
    kernels_before: float = 0.0
    kernels_after: float = 0.0
    whole_before: float = 0.0
    whole_after: float = 0.0
    whole_by: float = 0.0
    processor_before: float = 0.0
    processor_after: float = 0.0
    processor_by: float = 0.0
    start: float = 0.0
    same_output: bool = True


@dataclass
class Times:
    """What runs of one kind took, and wrote."""

    whole: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    outputs: set[str] = field(default_factory=set)

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Run it once more."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        self.whole.append(time.monotonic() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        self.outputs.add(MEASURED.sub("", done.stdout))


def measured(program: Program, folder: Path, seconds: float, turns: int) -> Outcome:
    """Tune a program, run it in turns, and return its row."""
    outcome = Outcome(program.name)
    file = executable_of(program.words[0])
    python = () if file else (sys.executable,)
    if not file and not Path(program.words[0]).exists():
        outcome.note = "it is not installed"
        return outcome
    report = folder / f"{program.name.replace(' ', '-')}.json"
    tuning = (*COARSEN, "--tune", "--seconds", str(seconds), "--report", str(report), *program.words)
    subprocess.run(tuning, check=True, stdout=subprocess.DEVNULL)
    tuned = json.loads(report.read_text())["tuned"]
    outcome.chosen = "; ".join(sorted({each["shelved"] for each in tuned if each["shelved"]})) or "as it is"
    shelf = shelf_folder(None)
    plain, layer, words = dict(os.environ), substituting_environment(file, shelf), (*python, *program.words)
    before, after, by = Times(), Times(), Times()
    for turn in range(turns + 1):
        before.run(words, plain)
        after.run(words, layer)
        by.run((*COARSEN, *program.words), plain)
        if not turn:  # it fills caches
            before, after, by = Times(), Times(), Times()
    for name, times in (("before", before), ("after", after), ("by", by)):
        setattr(outcome, f"whole_{name}", statistics.median(times.whole))
        setattr(outcome, f"processor_{name}", statistics.median(times.processor))
    outcome.same_output = len(before.outputs | after.outputs | by.outputs) == 1
    with tempfile.TemporaryDirectory() as name:
        counted = {**layer, "COARSEN_COUNTS": f"{name}/counts"}
        subprocess.run(words, env=counted, check=True, capture_output=True)
        run = read_counts(0, 0.0, shelf, sorted(Path(name).iterdir()))
    outcome.launches = sum(each.launches for each in run.kernels)
    outcome.coarsened = sum(each.coarsened for each in run.kernels)
    outcome.start = run.nanoseconds_at_start / 1e9
    outcome.kernels_before = kernel_seconds(words, file, {})
    outcome.kernels_after = kernel_seconds(words, file, layer)
    return outcome


def kernel_seconds(words: Sequence[str], file: Path | None, layer: Mapping[str, str]) -> float:
    """Return what all launches take on the device, the least of three runs, by the recorder under a layer."""
    found = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "left").write_bytes(bytes(16))
            environment = recording_environment(file, folder)
            if "COARSEN_SHELF" in layer:
                environment["COARSEN_SHELF"] = layer["COARSEN_SHELF"]
                # What substitutes stands above the recorder, which sees what it launches.
                environment["OPENCL_LAYERS"] = layers_value(environment, layer_library(SUBSTITUTE, folder))
            with Path(os.devnull).open("w") as nowhere:
                saved = os.dup(1)
                os.dup2(nowhere.fileno(), 1)
                try:
                    run_to_end(words, environment)
                finally:
                    os.dup2(saved, 1)
                    os.close(saved)
            timed = [kind for kind in read_logs(folder)[0] if kind.timed]
            found.append(sum(kind.launches * kind.nanoseconds / kind.timed for kind in timed) / 1e9)
    return min(found)


def print_table(outcomes: Sequence[Outcome]) -> None:
    """Print all rows."""
    columns = {
        "program": [each.program for each in outcomes],
        "launches": [f"{each.coarsened} of {each.launches}" for each in outcomes],
        "kernels, s": [f"{each.kernels_before:.3f} → {each.kernels_after:.3f}" for each in outcomes],
        "whole, s": [f"{each.whole_before:.3f} → {each.whole_after:.3f}" for each in outcomes],
        "by the command, s": [f"{each.whole_by:.3f}" for each in outcomes],
        "processor, s": [f"{each.processor_before:.3f} → {each.processor_after:.3f}" for each in outcomes],
        "start, ms": [f"{1e3 * each.start:.1f}" for each in outcomes],
        "output": ["the same" if each.same_output else "DIFFERENT" for each in outcomes],
        "chosen": [each.note or each.chosen for each in outcomes],
    }
    print("\n".join(aligned(list(columns), zip(*columns.values(), strict=True), ())))


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of what is remembered, reports and rows.csv")
    parser.add_argument("--platform", default="Intel(R) OpenCL", help="the platform's name")
    parser.add_argument("--seconds", type=float, default=120.0, help="that tuning a program may take")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--only", action="append", help="a program's name; may be given again")
    asked = parser.parse_args()
    folder = asked.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {"COARSEN_STORE": str(folder / "store.sqlite"), "DEVICE": asked.platform}
    outcomes = []
    for program in programs(folder, asked.platform):
        if asked.only and program.name not in asked.only:
            continue
        try:
            outcomes.append(measured(program, folder, asked.seconds, asked.turns))
        except subprocess.CalledProcessError as error:
            outcomes.append(Outcome(program.name, note=f"it ended with {error.returncode}"))
        print_table(outcomes[-1:])
    print()
    print_table(outcomes)
    with (folder / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Outcome)])
        writer.writeheader()
        writer.writerows(map(asdict, outcomes))


if __name__ == "__main__":
    main()
