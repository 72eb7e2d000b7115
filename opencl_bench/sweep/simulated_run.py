"""The process that runs an uncoarsened kernel once on Oclgrind, which writes down every access out of bounds.

Its command line: what `find_benchmark` takes, a preset, a local size and macro values as JSON. The buffers are
made in the order of their arguments and have no guard zones, so that the first access beyond one of them shows.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import cast

import pyopencl as cl

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import SIMULATOR, find_device
from coarsen.opencl_bench.measure.run import LaunchableKernel, PlacedImage, enqueue_launch
from coarsen.opencl_bench.sweep.compile_service import original_code
from coarsen.opencl_bench.workloads.benchmark import Workload
from coarsen.opencl_bench.workloads.lookup import find_benchmark


def main(name: str, preset: str, local_size: str, definitions: str) -> int:
    """Run the kernel of a benchmark. Raises CoarsenError and pyopencl.Error where that isn't possible."""
    warnings.simplefilter("ignore")
    benchmark = find_benchmark(name)
    macros = tuple((str(macro), str(value)) for macro, value in json.loads(definitions))
    workload = benchmark.workload(preset, 0, tuple(json.loads(local_size)), macros)
    context = cl.Context([open_device(find_device(SIMULATOR))])
    queue = cl.CommandQueue(context)
    buffers = {name: _on_device(queue, workload, name) for name in workload.buffers}
    code = original_code(benchmark, macros, benchmark.source)
    program = build_uncached(context, code.content, code.options)
    for launch in workload.launches:
        kernel = cast("LaunchableKernel", cl.Kernel(program, launch.kernel))
        enqueue_launch(queue, kernel, launch, buffers)
        queue.finish()
    return 0


def _on_device(queue: cl.CommandQueue, workload: Workload, name: str) -> cl.MemoryObject:
    contents = workload.buffers[name]
    if name in workload.images:
        return PlacedImage(queue, contents, workload.images[name]).view
    return cl.Buffer(queue.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=contents)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
