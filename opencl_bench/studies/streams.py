"""What streams are worth: `python -m coarsen.opencl_bench.studies.streams KIND -d DEVICE`.

`reductions`: at powers of two and between, `Reduce`, PyOpenCL's own and some fixed versions: a line for each size,
with how many times as fast as PyOpenCL's, with quartiles, and the fastest fixed version.
`shapes`: a matrix by a vector, over shapes: as is chosen, in fixed versions, CLBlast's, PyTorch's.
`chains`: maps one after the other, named and random ones: as kernels apart, as one kernel of a pipeline, by
`coarsen.fuse` with the buffers in between kept and given up (none where it ends in a sum); PyOpenCL's arrays,
PyTorch's (eager, on a GPU), and `jax.jit`, on a device of the same kind.
`stencils`: pipelines of two stages on images, as they come (`untuned`), then every version with work-groups,
factors along the image and tiles in local memory, those left out that take three times as long as the fastest; the
two stencils of a blur by Halide.
`breaks`: the sizes at which one version of a reduction takes over from another, as the tree says, and between
which neighbours of a grid of half powers of two it is so measured, where one step from one to the other costs the
least; the distance is in powers of two, 0 between these.
`host`: what a call of a reduction, or of a pipeline, takes the host until all is enqueued, beside a launch of the
same kernel by PyOpenCL.

Lines of CSV on standard output. Microseconds are medians of 15 rounds in turns, several calls at a time until the
queue is empty, the host's part included; `of_best` is the time of the fastest over the own. Results are compared
with NumPy's. What is refused or fails is said on standard error.

With `--tuned FOLDER`, reductions choose by tuned files there, `sum.intel.json`, made first where they are
missing. Their own bytes and `--seed` draw the sizes of `reductions` and `shapes`: none is a power of two, none
was known when the file was written. `tuned` is one more way, beside what is chosen untuned; standard error says
what share of the speed of the fastest version these have, and the best version for all sizes.
`docs/explanation/streams.md` has what is asked, S1 to S4 and S6, after Samadi et al., "Adaptive Input-aware
Compilation for Graphics Engines" (PLDI 2012).
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

import pyopencl as cl

from coarsen.opencl_bench.studies.chains import chains, stencils
from coarsen.opencl_bench.studies.reductions import breaks, host, products, reductions
from coarsen.opencl_bench.studies.turns import Lines, study

KINDS: Mapping[str, Callable[[cl.CommandQueue, Namespace], Lines]] = {
    "reductions": reductions,
    "shapes": products,
    "chains": chains,
    "stencils": stencils,
    "breaks": breaks,
    "host": host,
}

if __name__ == "__main__":
    study(
        __doc__,
        lambda queue, asked: KINDS[asked.kind](queue, asked),
        {
            "kind": {"choices": KINDS},
            "--what": {"nargs": "*", "help": "which of these, such as sum; all if left out"},
            "--powers": {"nargs": 2, "type": int, "help": "of 2: the least size, the largest"},
            "--sizes": {"nargs": "*", "type": int, "help": "of chains: elements; of stencils: sides of images"},
            "--totals": {"nargs": "*", "type": int, "help": "of shapes: floats of a matrix"},
            "--tuned": {"type": Path, "metavar": "FOLDER", "help": "of tuned files, made where they are missing"},
            "--seconds": {"type": float, "default": 60, "help": "that a file takes, about (60)"},
            "--drawn": {"type": int, "default": 14, "help": "how many sizes are drawn, of each total (14)"},
            "--seed": {"type": int, "default": 2012, "help": "that they are drawn with (2012)"},
        },
    )
