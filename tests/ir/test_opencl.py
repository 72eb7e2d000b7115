"""The table of OpenCL's builtins, and its queries of the NDRange."""

from __future__ import annotations

import itertools
import operator

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.opencl.builtins import Reach, Role, builtin_named
from coarsen.ir.opencl.queries import (
    Query,
    builtin_name,
    linear_id,
    mangled_name,
    may_concern,
    queried_dimension,
    query_named,
    query_of,
)


@pytest.mark.parametrize("query", Query)
def test_every_query_is_in_the_table_by_its_name_in_ir(query: Query) -> None:
    name = mangled_name(query.value, "j" if query.has_dimension else "v")
    assert builtin_name(name) == query.value
    assert query_named(name) is query
    assert builtin_named(name).query is query
    assert builtin_named(name).role is Role.QUERY


def test_linear_ids_number_all_work_items_in_order() -> None:
    sizes = (3, 2, 4)
    numbers = [
        linear_id((x, y, z).__getitem__, sizes.__getitem__, operator.mul, operator.add)
        for z, y, x in itertools.product(range(sizes[2]), range(sizes[1]), range(sizes[0]))
    ]
    assert numbers == list(range(3 * 2 * 4))


def test_queries_concern_the_dimensions_that_they_may_ask_about() -> None:
    kernel = lower(
        "kernel void k(global ulong *p, uint d) {"
        " p[0] = get_global_id(1); p[1] = get_local_id(d); p[2] = get_local_linear_id(); }",
        options="-cl-std=CL2.0",
    )
    calls = {query_of(i): i for i in kernel.instructions() if query_of(i)}
    concerned = {query: [may_concern(call, d) for d in range(3)] for query, call in calls.items()}
    assert concerned == {
        Query.GLOBAL_ID: [False, True, False],
        Query.LOCAL_ID: [True, True, True],
        Query.LOCAL_LINEAR_ID: [True, True, True],
    }
    assert queried_dimension(calls[Query.GLOBAL_ID]) == 1
    assert queried_dimension(calls[Query.LOCAL_ID]) is None


def test_a_dimension_that_is_no_number_is_none_of_the_range() -> None:
    kernel = lower(
        'target triple = "spir64-unknown-unknown"\n'
        "declare spir_func i64 @_Z13get_global_idj(i32)\n"
        "define spir_kernel void @k(ptr addrspace(1) %p) {\n"
        "  %x = call spir_func i64 @_Z13get_global_idj(i32 poison)\n"
        "  store i64 %x, ptr addrspace(1) %p\n"
        "  ret void\n}\n"
    )
    [call] = [i for i in kernel.instructions() if i.opcode == "call"]
    assert queried_dimension(call) == -1
    assert not any(may_concern(call, dimension) for dimension in range(3))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("sub_group_barrier", "sub-group"),
        ("work_group_reduce_add", "collective"),
        ("read_pipe", "pipe"),
        ("enqueue_kernel", "device-enqueue"),
        ("llvm.trap", "unsupported-call"),
        ("__spirv_BuiltInGlobalInvocationId", "unsupported-call"),
        ("", "unsupported-call"),
    ],
)
def test_refused_functions_have_their_code(name: str, code: str) -> None:
    refused = builtin_named(name).refused
    assert refused is not None
    assert refused.code == code


@pytest.mark.parametrize(
    ("declaration", "role", "reads"),
    [
        ("nounwind memory(none)", Role.VALUE, Reach.NOTHING),
        ("nounwind memory(read)", Role.VALUE, Reach.EVERYTHING),
        ("nounwind memory(read, argmem: none)", Role.VALUE, Reach.EVERYTHING),
        ("nounwind memory(argmem: read)", Role.VALUE, Reach.ARGUMENTS),
        ("nounwind memory(read, argmem: readwrite)", Role.PER_ITEM, Reach.EVERYTHING),
        ("nounwind memory(argmem: write)", Role.PER_ITEM, Reach.EVERYTHING),
        ("nounwind", Role.PER_ITEM, Reach.EVERYTHING),
        ("", Role.PER_ITEM, Reach.EVERYTHING),
    ],
)
def test_functions_outside_of_the_table_are_judged_by_their_declaration(
    declaration: str, role: Role, reads: Reach
) -> None:
    found = builtin_named("_Z7unknownPi", declaration)
    assert (found.role, found.reads, found.is_known) == (role, reads, False)
    assert found.orders == (role is Role.PER_ITEM)


@pytest.mark.parametrize(
    "name",
    ["vload_x", "vload4_cached", "vstorex", "write_image_tile", "atomic_loader", "atomic_fma", "atom_xchg_all"],
)
def test_functions_that_only_begin_like_a_builtin_are_judged_by_their_declaration(name: str) -> None:
    assert builtin_named(mangled_name(name, "Pi")) == builtin_named("_Z7unknownPi")
    assert builtin_named(mangled_name(name, "i"), "memory(none)") == builtin_named("_Z7unknowni", "memory(none)")


@pytest.mark.parametrize(
    ("names", "reads", "writes"),
    [
        ("vload2 vload16 vload_half vload_half3 vloada_half4", Reach.ARGUMENTS, Reach.NOTHING),
        ("vstore3 vstore_half vstore_half2_rtz vstorea_half16_rte", Reach.NOTHING, Reach.ARGUMENTS),
        ("write_imagef write_imagei write_imageui write_imageh", Reach.NOTHING, Reach.EVERYTHING),
        ("atomic_load atomic_load_explicit", Reach.ARGUMENTS, Reach.NOTHING),
        ("atomic_init atomic_store atomic_flag_clear_explicit", Reach.NOTHING, Reach.ARGUMENTS),
        ("atomic_add atom_cmpxchg atomic_fetch_max_explicit atomic_exchange", Reach.ARGUMENTS, Reach.ARGUMENTS),
        ("atomic_compare_exchange_weak atomic_flag_test_and_set", Reach.ARGUMENTS, Reach.ARGUMENTS),
    ],
)
def test_builtins_of_several_versions_are_in_the_table(names: str, reads: Reach, writes: Reach) -> None:
    for name in names.split():
        found = builtin_named(mangled_name(name, "Pi"))
        assert (found.is_known, found.reads, found.writes) == (True, reads, writes), name
