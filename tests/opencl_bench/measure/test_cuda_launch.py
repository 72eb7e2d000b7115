"""What NVIDIA's driver is given for a launch. The driver itself can't be had here."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.errors import InternalError
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.measure.cuda_launch import CudaLaunch, cuda_launch
from coarsen.tuning.measure.variant_launch import variant_launch
from coarsen.tuning.workload.benchmark import Launch, LocalArgument, ScalarArgument
from coarsen.tuning.workload.driver_tools import buffers, int32
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.variant import Variant

ADDRESSES = {"input": 0x7F00_0000_1000, "output": 0x7F00_0010_0000}


def launched(launch: Launch, coarsenings: Configuration = ()) -> CudaLaunch:
    return cuda_launch(variant_launch(launch, Variant(coarsenings=coarsenings), ()), ADDRESSES.__getitem__)


def test_grid_of_a_coarsened_launch() -> None:
    launch = Launch("k", (1024, 64), (32, 8), buffers("input"))
    assert (launched(launch).grid, launched(launch).block) == ((32, 8, 1), (32, 8, 1))
    coarsened = launched(launch, (Coarsening(4, 1),))
    assert (coarsened.grid, coarsened.block) == ((32, 8, 1), (32, 2, 1))


def test_parameters_are_the_bytes_of_their_types() -> None:
    scalars = (ScalarArgument(np.float32(0.5)), ScalarArgument(np.uint8(7)), ScalarArgument(np.int64(-2)))
    found = launched(Launch("k", (64,), (64,), (*buffers("output"), *int32(-1), *scalars))).parameters
    assert [parameter.tobytes() for parameter in found] == [
        ADDRESSES["output"].to_bytes(8, "little"),
        b"\xff\xff\xff\xff",
        np.float32(0.5).tobytes(),
        b"\x07",
        (-2).to_bytes(8, "little", signed=True),
    ]


def test_local_memory_is_offsets_into_one_aligned_piece() -> None:
    arguments = (LocalArgument(20), *buffers("input"), LocalArgument(256), LocalArgument(1))
    found = launched(Launch("k", (64,), (64,), arguments))
    offsets = [int(found.parameters[index]) for index in (0, 2, 3)]
    assert offsets == [0, 128, 384]
    assert found.shared_bytes == 512
    assert all(found.parameters[index].dtype == np.uint64 for index in (0, 2, 3))


def test_addresses_lead_to_the_parameters() -> None:
    found = launched(Launch("k", (64,), (64,), (*buffers("input"), *int32(9))))
    addresses = found.addresses()
    assert addresses.dtype == np.uint64
    assert [int(address) for address in addresses] == [p.ctypes.data for p in found.parameters]


def test_whole_work_groups_only() -> None:
    with pytest.raises(InternalError, match="not made of whole work-groups"):
        launched(Launch("k", (100,), (64,), buffers("input")))


@pytest.mark.parametrize("name", sorted(SUITE))
def test_every_launch_of_the_suite(name: str) -> None:
    for launch in SUITE[name].launches("test"):
        found = cuda_launch(launch, lambda _buffer: 0x1000)
        total = [blocks * items for blocks, items in zip(found.grid, found.block, strict=True)]
        assert tuple(total[: len(launch.global_size)]) == launch.global_size
        assert len(found.parameters) == len(launch.arguments)
