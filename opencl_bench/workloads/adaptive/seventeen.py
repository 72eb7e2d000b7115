"""The seventeen kernels of the suite over their sizes: coarsening and local size by size, with nothing annotated.

blackscholes and nbody are the controls: what suits them should depend on the size hardly at all. Sizes are
multiples of all local sizes where the kernel doesn't guard, so that all versions solve one problem; where the
outputs depend on the local size (reduce, dwtHaar1D), there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.input_space import InputSpace
from coarsen.opencl_bench.workloads.suite import (
    binary_search,
    blackscholes,
    convolution,
    dwt_haar_1d,
    fast_walsh,
    floyd_warshall,
    mri_q,
    mt,
    mt_local,
    mv_coal,
    mv_uncoal,
    nbody,
    reduce,
    sgemm,
    sobel,
    spmv,
    stencil,
)

LINES: tuple[LocalSize, ...] = ((128,), (16,), (32,), (64,), (256,), (512,))
TILES: tuple[LocalSize, ...] = ((16, 16), (8, 8), (32, 8), (64, 4), (4, 64), (256, 1))
FACTORS = (2, 4, 8, 16)
# What every local size above divides.
WHOLE = 512
WHOLE_TILE = 64


def _adaptive(
    own: Benchmark,
    inputs: InputSpace,
    features: Mapping[str, str],
    local_sizes: tuple[LocalSize, ...] = (),
    strides: tuple[int, ...] = (1, 32),
) -> AdaptiveKernel:
    """A kernel of the suite with other sizes; along one dimension strides are worth trying, else hardly."""
    is_line = own.dimensions == (0,)
    return AdaptiveKernel(
        kernel=own.kernel,
        inputs=inputs,
        test=own.preset("test").size,
        local_sizes=local_sizes or (LINES if is_line else TILES),
        make_workload=own.make_workload,
        factors=FACTORS,
        strides=strides if is_line else (1,),
        features=features,
        own=own,
    )


def _one_option_each(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """As many work-items as options, so that nothing but the size differs."""
    return blackscholes.make_workload({"items": size["options"], **size}, local_size, generator)


def _one_group_each(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """A work-group for each row, up to some thousands."""
    items = min(size["height"], 4096) * local_size[0]
    return mv_coal.make_workload({"items": items, **size}, local_size, generator)


_ITEMS = {"items": "global_size_0"}
_PIXELS = {"width": "global_size_0", "height": "global_size_1", "pixels": "global_size_0 * global_size_1"}
_MATRIX = {"width": "width", "height": "height", "elements": "width * height", "aspect": "width / height"}
_MATRIX_INPUTS = InputSpace(
    ranges={"width": (16, 1 << 16), "height": (16, 1 << 17)},
    limits=("width * height <= 8388608", "width * height >= 8192"),
)

KERNELS = (
    _adaptive(
        binary_search.BENCHMARK,
        InputSpace({"ranges": (1 << 12, 1 << 22)}, multiples={"ranges": WHOLE}),
        _ITEMS,
    ),
    _adaptive(
        replace(blackscholes.BENCHMARK, make_workload=_one_option_each),
        InputSpace({"options": (512, 1 << 19)}, multiples={"options": WHOLE}),
        {"options": "option_count"},
    ),
    _adaptive(
        convolution.BENCHMARK,
        InputSpace(
            {"width": (16, 2048), "height": (16, 2048), "mask_width": (1, 17), "mask_height": (1, 17)},
            limits=(
                "width * height * mask_width * mask_height <= 20000000",
                "width * height * mask_width * mask_height >= 20000",
            ),
        ),
        {"pixels": "width * height", "mask": "mask_width * mask_height", "mask_width": "mask_width"},
    ),
    _adaptive(
        dwt_haar_1d.BENCHMARK,
        InputSpace({"length": (1 << 8, 1 << 21)}, powers_of_two=frozenset({"length"}), groups=14),
        _ITEMS,
        local_sizes=((128,),),
        strides=(1, 4, 16, 32),
    ),
    _adaptive(
        fast_walsh.BENCHMARK,
        InputSpace({"items": (1 << 9, 1 << 19)}, powers_of_two=frozenset({"items"}), groups=11),
        _ITEMS,
    ),
    _adaptive(
        floyd_warshall.BENCHMARK,
        InputSpace({"nodes": (256, 1024 + 512)}, multiples={"nodes": WHOLE_TILE}, fixed={"passes": 8}, groups=20),
        {"nodes": "node_count"},
        local_sizes=TILES[:-1],
    ),
    _adaptive(
        mri_q.BENCHMARK,
        InputSpace(
            {"voxels": (WHOLE, 1 << 17), "samples": (16, 1024)},
            limits=("voxels * samples <= 2000000", "voxels * samples >= 16384"),
            multiples={"voxels": WHOLE},
        ),
        {"voxels": "global_size_0", "samples": "sample_count"},
    ),
    _adaptive(
        mt.BENCHMARK,
        InputSpace(
            {"width": (256, 1 << 15), "height": (64, 1 << 15)},
            limits=("width * height <= 8388608",),
            multiples={"width": 256, "height": WHOLE_TILE},
        ),
        _MATRIX,
    ),
    _adaptive(
        mt_local.BENCHMARK,
        InputSpace(
            {"tiles_x": (32, 4096), "tiles_y": (32, 4096)},
            limits=("tiles_x * tiles_y <= 1048576",),
            multiples={"tiles_x": 32, "tiles_y": 32},
        ),
        _PIXELS,
        local_sizes=((16, 16), (4, 4), (8, 8), (32, 32)),
    ),
    _adaptive(replace(mv_coal.BENCHMARK, make_workload=_one_group_each), _MATRIX_INPUTS, _MATRIX),
    _adaptive(mv_uncoal.BENCHMARK, _MATRIX_INPUTS, _MATRIX),
    _adaptive(
        nbody.BENCHMARK,
        InputSpace({"bodies": (128, 1 << 12)}, multiples={"bodies": 128}),
        {"bodies": "body_count"},
        local_sizes=LINES[:4],
        strides=(1, 4, 16),
    ),
    _adaptive(
        reduce.BENCHMARK,
        InputSpace({"items": (1 << 10, 1 << 20)}, multiples={"items": WHOLE}),
        _ITEMS,
        local_sizes=((128,),),
        strides=(1, 4, 16, 32),
    ),
    _adaptive(
        sgemm.BENCHMARK,
        InputSpace(
            {"height": (64, 2048), "width": (64, 2048), "inner": (1, 2048)},
            limits=("height * width * inner <= 16000000",),
            multiples={"height": WHOLE_TILE, "width": WHOLE_TILE},
        ),
        {"height": "global_size_0", "width": "global_size_1", "inner": "inner_size"},
        local_sizes=TILES[:-1],
    ),
    _adaptive(
        sobel.BENCHMARK,
        InputSpace(
            {"width": (256, 1 << 13), "height": (64, 1 << 13)},
            limits=("width * height <= 4194304",),
            multiples={"width": 256, "height": WHOLE_TILE},
        ),
        _PIXELS,
    ),
    _adaptive(
        spmv.BENCHMARK,
        InputSpace(
            {"rows": (512, 1 << 17), "longest_row": (1, 400)},
            limits=("rows * longest_row <= 4000000", "rows * longest_row >= 16384"),
        ),
        {"rows": "row_count", "mean_row": "bytes_values / 4 / row_count"},
    ),
    _adaptive(
        stencil.BENCHMARK,
        InputSpace(
            {"inner_x": (16, 1024), "inner_y": (8, 512), "inner_z": (4, 256)},
            limits=("inner_x * inner_y * inner_z <= 4000000", "inner_x * inner_y * inner_z >= 16384"),
            multiples={"inner_y": 8, "inner_z": 4},
        ),
        {"width": "width", "height": "height", "depth": "global_size_2"},
        local_sizes=((32, 2, 1), (64, 2, 1), (128, 1, 1), (32, 4, 2), (8, 8, 4), (16, 8, 1)),
    ),
)
