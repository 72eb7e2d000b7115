"""The definitions of OpenCL's builtins that the PTX writer uses, against a device's own builtins.

Each kernel is built twice for a device that takes SPIR-V: as it is, and with every builtin defined in LLVM IR
(work-item functions and barriers apart, which NVPTX alone has). Results must agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
import pytest

from coarsen.backend.builtin_library import Body, Declaration, with_definitions
from coarsen.backend.builtin_memory import atomic_body, vector_body
from coarsen.backend.builtin_numbers import conversion_body, number_body
from coarsen.backend.llvm_module import kernel_module
from coarsen.backend.spirv import emit_in_process
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.modules import run_passes

Array: TypeAlias = np.ndarray[Any, Any]

COUNT = 64
INTEGER_TYPES = ("char", "uchar", "short", "ushort", "int", "uint")
FINITE = np.random.default_rng(3).normal(scale=20, size=8 * COUNT).astype(np.float32)
TWO_INTEGERS = ("min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "abs_diff", "rotate")
ONE_FLOAT = ("fabs", "floor", "ceil", "trunc", "rint", "round", "sqrt", "sign", "degrees", "radians", "rsqrt")
TWO_FLOATS = ("fmin", "fmax", "min", "max", "copysign", "fdim", "step", "maxmag", "minmag")
RELATIONS = ("isequal", "isnotequal", "isgreater", "islessequal", "islessgreater", "isordered", "isunordered")
TESTS = ("isnan", "isinf", "isfinite", "isnormal", "signbit")


def library(declaration: Declaration) -> Iterable[str] | None:
    for write in (number_body, conversion_body, vector_body):
        body = write(Body(declaration))
        if body is not None:
            return body
    return atomic_body(declaration)


def with_own_builtins(kernel: Kernel) -> bytes:
    """SPIR-V in which every builtin but the work-item functions is defined."""
    text = with_definitions(module_text(kernel.graph), library, kernel.structures)
    with kernel_module(kernel, text) as module:
        run_passes(module, ["always_inliner", "global_dead_code_eliminate", "strip_dead_prototype"])
        called = {function.name for function in module.functions if function.is_declaration}
        assert all(name.startswith(("_Z13get_global_id", "llvm.")) for name in called)
        assembly = str(module)
    return emit_in_process(assembly, "spirv64v1.2-unknown-unknown")


def output(queue: cl.CommandQueue, code: str | bytes, values: Array) -> Array:
    """What `kernel void k(global T *values, global uchar *results)` writes: 64 bytes per work-item."""
    program = cl.Program(queue.context, code).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    given = cl.Buffer(queue.context, flags, hostbuf=values.copy())
    results = np.zeros(64 * COUNT, np.uint8)
    memory = cl.Buffer(queue.context, flags, hostbuf=results)
    cl.Kernel(program, "k")(queue, (COUNT,), None, given, memory)
    cl.enqueue_copy(queue, results, memory)
    return results


def inputs(kind: type) -> Array:
    """Values with the corner cases of a type among them."""
    random = np.random.default_rng(7)
    if np.dtype(kind).kind == "f":
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 2.5, 1e-40, 3e38, -0.5, 0.5]
        return np.concatenate([special, random.normal(scale=50, size=8 * COUNT - len(special))]).astype(kind)
    return np.frombuffer(random.bytes(8 * COUNT * np.dtype(kind).itemsize), dtype=kind).copy()


def assert_agree(queue: cl.CommandQueue, body: str, values: Array, type_name: str) -> None:
    places = (
        f"global {type_name} *v = values + get_global_id(0); global uchar *r = results + 64 * get_global_id(0);"
    )
    source = f"kernel void k(global {type_name} *values, global uchar *results) {{ {places} {body} }}"
    expected = output(queue, source, values)
    found = output(queue, with_own_builtins(lower(source)), values)
    if "global float *)r" in body:
        reals = found.view(np.float32), expected.view(np.float32)
        np.testing.assert_allclose(*reals, rtol=1e-6, atol=1e-30, err_msg=body)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=body)


@pytest.mark.parametrize("type_name", INTEGER_TYPES)
def test_integers(type_name: str, spirv_queue: cl.CommandQueue) -> None:
    stores = [f"((global {type_name} *)r)[{i}] = {f}(v[0], v[1]);" for i, f in enumerate(TWO_INTEGERS)]
    more = (
        "clz(v[0])",
        "popcount(v[1])",
        "clamp(v[0], min(v[1], v[2]), max(v[1], v[2]))",
        "mad_hi(v[0], v[1], v[2])",
    )
    stores += [f"((global {type_name} *)r)[{10 + i}] = {call};" for i, call in enumerate(more)]
    stores.append(f"((global u{type_name.removeprefix('u')} *)r)[14] = abs(v[0]);")
    vector = (
        f"vstore3(max(vload3(0, v), vload3(1, v)), 0, (global {type_name} *)(r + 60) - 3);"
        if "int" not in type_name
        else ""
    )
    assert_agree(spirv_queue, "".join(stores) + vector, inputs(np.dtype(_NUMPY[type_name]).type), type_name)


_NUMPY = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"}


@pytest.mark.parametrize("type_name", ["char", "ushort", "int"])
def test_integers_of_twice_the_bits(type_name: str, spirv_queue: cl.CommandQueue) -> None:
    wide = {"char": "short", "ushort": "uint", "int": "long"}[type_name]
    low = "u" + type_name.removeprefix("u")
    stores = (
        f"((global {wide} *)r)[0] = upsample(v[0], as_{low}(v[1]));"
        f"((global {type_name} *)r)[4] = {'mad24(v[0] >> 9, v[1] >> 9, v[2])' if type_name == 'int' else 'v[0]'};"
        f"((global {type_name} *)r)[5] = {'mul24(v[0] >> 9, v[1] >> 9)' if type_name == 'int' else 'v[0]'};"
    )
    assert_agree(spirv_queue, stores, inputs(np.dtype(_NUMPY[type_name]).type), type_name)


@pytest.mark.parametrize("function", [*ONE_FLOAT, *TWO_FLOATS])
def test_floats(function: str, spirv_queue: cl.CommandQueue) -> None:
    arguments, vectors = ("v[0]", "v[1]"), ("vload4(0, v)", "vload4(1, v)")
    count = 1 if function in ONE_FLOAT else 2
    body = (
        f"((global float *)r)[0] = {function}({', '.join(arguments[:count])});"
        f"vstore4({function}({', '.join(vectors[:count])}), 1, (global float *)r);"
    )
    # What min, max and step give for a NaN is left open.
    is_open = function in ("min", "max", "step")
    assert_agree(spirv_queue, body, FINITE if is_open else inputs(np.float32), "float")


@pytest.mark.parametrize("function", [*RELATIONS, *TESTS])
def test_relations(function: str, spirv_queue: cl.CommandQueue) -> None:
    arguments, vectors = ("v[0]", "v[1]"), ("vload2(0, v)", "vload2(1, v)")
    count = 1 if function in TESTS else 2
    body = (
        f"*(global int *)r = {function}({', '.join(arguments[:count])});"
        f"((global int2 *)r)[1] = {function}({', '.join(vectors[:count])});"
    )
    assert_agree(spirv_queue, body, inputs(np.float32), "float")


@pytest.mark.parametrize(
    "expression",
    [
        "dot(x, y)",
        "length(x * 0.01f)",
        "distance(x * 0.01f, y * 0.01f)",
        "mix(x, y, 0.25f).x",
        "clamp(x, -2.0f, 3.0f).y",
        "smoothstep(-5.0f, 5.0f, x).z",
        "normalize(x).x",
        "cross(x, y).y",
        "cross(x.xyz, y.xyz).z",
        "fma(x, y, x).w",
        "select(x, y, as_int4(y)).x",
        "bitselect(x, y, x * 2).y",
        "shuffle(x, as_uint4(y)).z",
        "shuffle2(x, y, as_uint4(x)).w",
        "fract(x.x, &y_part) + y_part",
        "modf(x.x, &y_part) + y_part",
        "mad(x, y, y).x - y.x",
        "fmax(x, 1.0f).w + fmin(y, 2.0f).z",
    ],
)
def test_vectors(expression: str, spirv_queue: cl.CommandQueue) -> None:
    body = f"float y_part; float4 x = vload4(1, v), y = vload4(2, v); ((global float *)r)[0] = {expression};"
    assert_agree(spirv_queue, body, FINITE, "float")


@pytest.mark.parametrize("to", ["uchar", "short", "int"])
@pytest.mark.parametrize("saturated", ["", "_sat"])
def test_conversions_from_float(to: str, saturated: str, spirv_queue: cl.CommandQueue) -> None:
    # What is out of range without saturation is left open, and so is a NaN in types narrower than int.
    values = inputs(np.float32) if saturated else np.linspace(0.2, 90, 8 * COUNT, dtype=np.float32)
    values = values if to == "int" else np.nan_to_num(values)
    roundings = ("", "_rte", "_rtp", "_rtn", "_rtz")
    stores = [f"o[{i}] = convert_{to}{saturated}{rounding}(v[{i}]);" for i, rounding in enumerate(roundings)]
    body = f"global {to} *o = (global {to} *)r; {''.join(stores)}"
    vector = f"vstore4(convert_{to}4{saturated}_rte(vload4(1, v)), 2, o);"
    assert_agree(spirv_queue, body + vector, values, "float")


@pytest.mark.parametrize("to", ["char", "uchar", "ushort", "int", "uint"])
@pytest.mark.parametrize("source", ["uchar", "short", "int", "uint"])
def test_conversions_between_integers(source: str, to: str, spirv_queue: cl.CommandQueue) -> None:
    body = (
        f"global {to} *o = (global {to} *)r; o[0] = convert_{to}(v[0]); o[1] = convert_{to}_sat(v[1]);"
        f"vstore2(convert_{to}2(vload2(1, v)), 1, o); vstore2(convert_{to}2_sat(vload2(2, v)), 2, o);"
        "((global float *)r)[8] = convert_float(v[3]);"
        "((global float *)r)[9] = convert_float2_rte(vload2(1, v)).y;"
    )
    assert_agree(spirv_queue, body, inputs(np.dtype(_NUMPY[source]).type), source)


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_vector_loads_and_stores(count: int, spirv_queue: cl.CommandQueue) -> None:
    body = f"vstore{count}(vload{count}(1, v), 0, (global uint *)r);"
    assert_agree(spirv_queue, body, inputs(np.uint32), "uint")


@pytest.mark.parametrize("count", ["", "2", "3", "4", "8"])
@pytest.mark.parametrize("aligned", ["", "a"])
def test_halves_in_memory(count: str, aligned: str, spirv_queue: cl.CommandQueue) -> None:
    values = np.random.default_rng(4).normal(size=64 * COUNT).astype(np.float16)
    function = f"{aligned}_half{count}" if count else "_half"
    source = "values + 16 * get_global_id(0)"
    body = f"vstore{function}(vload{function}(1, {source}) * 1.1f, 1, (global half *)r);"
    assert_agree(spirv_queue, body, values, "half")


@pytest.mark.parametrize("type_name", ["int", "uint"])
def test_atomics(type_name: str, spirv_queue: cl.CommandQueue) -> None:
    calls = ("add", "sub", "xchg", "min", "max", "and", "or", "xor")
    body = f"volatile global {type_name} *p = (volatile global {type_name} *)r;"
    body += "".join(f"p[0] += atomic_{call}(p + {i + 1}, v[{i}]);" for i, call in enumerate(calls))
    body += "p[9] = atomic_inc(p + 10) + atomic_dec(p + 11) + atomic_cmpxchg(p + 12, 0, 5);"
    assert_agree(spirv_queue, body, inputs(np.dtype(_NUMPY[type_name]).type), type_name)


def test_any_and_all(spirv_queue: cl.CommandQueue) -> None:
    body = (
        "int4 x = vload4(0, v); global int *o = (global int *)r; o[0] = any(x); o[1] = all(x); o[2] = any(v[0]);"
    )
    assert_agree(spirv_queue, body, inputs(np.int32), "int")
