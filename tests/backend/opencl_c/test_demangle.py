"""Parameters of builtins out of their mangled names."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c.c.types import declared
from coarsen.backend.opencl_c.decide.builtins import UnknownManglingError, parameters

NAMES = {
    "_Z13get_global_idj": "uint",
    "_Z12get_work_dimv": "",
    "_Z3maxhh": "uchar, uchar",
    "_Z3minDv8_tS_": "ushort8, ushort8",
    "_Z6selectDv3_fS_Dv3_i": "float3, float3, int3",
    "_Z8atom_addPU3AS1Vll": "global volatile long*, long",
    "_Z5fractDv4_fPU3AS1S_": "float4, global float4*",
    "_Z11vstore_halffmPU3AS1Dh": "float, ulong, global half*",
    "_Z21async_work_group_copyPU3AS3Dv4_fPU3AS1KS_m9ocl_event": (
        "local float4*, global const float4*, ulong, ocl_event"
    ),
    "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f": "ocl_image2d_ro, ocl_sampler, float2",
    "_Z12atomic_storePU3AS4VU7_Atomicii": "volatile atomic_int*, int",
    "_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicjj12memory_order12memory_scope": (
        "volatile atomic_uint*, uint, memory_order, memory_scope"
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_parameters(name: str) -> None:
    assert ", ".join(declared(type_, "") for type_ in parameters(name)) == NAMES[name]


@pytest.mark.parametrize("name", ["printf", "_Z3foo", "_Z3fooQ", "_Z3fooS_", "_Z3fooP", "_Z3fooDv4_P"])
def test_unknown_names(name: str) -> None:
    if name == "_Z3foo":
        assert parameters(name) == ()
        return
    with pytest.raises(UnknownManglingError):
        parameters(name)
