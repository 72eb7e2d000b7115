"""LLVM instructions and intrinsics that optimised IR has and plain OpenCL C doesn't lead to, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.devices.building import build_uncached
from coarsen.frontend.lower import lower

Numbers = NDArray[Any]
COUNT = 64
_MODULE = """target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512"
target triple = "spir64-unknown-unknown"

{before}
define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %first, ptr addrspace(1) %second) {{
entry:
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %pa = getelementptr inbounds {type}, ptr addrspace(1) %first, i64 %id
  %pb = getelementptr inbounds {type}, ptr addrspace(1) %second, i64 %id
  %po = getelementptr inbounds {type}, ptr addrspace(1) %out, i64 %id
  %a = load {type}, ptr addrspace(1) %pa, align {align}
  %b = load {type}, ptr addrspace(1) %pb, align {align}
{body}
  store {type} %r, ptr addrspace(1) %po, align {align}
  ret void
}}

declare spir_func i64 @_Z13get_global_idj(i32)
"""
_SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4}


@dataclass(frozen=True)
class Snippet:
    """IR that computes `%r` from `%a` and `%b`, and what that must be."""

    name: str
    type: str
    body: str
    expected: Callable[[Numbers, Numbers], Numbers]

    def module(self) -> str:
        """The whole module; intrinsics are declared by their first use."""
        lines = [line.strip() for line in self.body.strip().splitlines()]
        declarations = [_declaration(line) for line in lines if "@llvm." in line]
        return _MODULE.format(
            before="\n".join(dict.fromkeys(declarations)),
            type=self.type,
            align=_SIZES[self.type],
            body="\n".join(f"  {line}" if not line.endswith(":") else line for line in lines),
        )


def _declaration(line: str) -> str:
    """`%r = call T @llvm.f(T %a, i1 false)` → `declare T @llvm.f(T, i1)`."""
    head, _, tail = line.partition(" call ")[2].partition("(")
    types = ", ".join(argument.rsplit(" ", 1)[0] for argument in tail.rstrip(")").split(", "))
    return f"declare {head}({types})"


def _unsigned(values: Numbers) -> Numbers:
    return values.view(f"u{values.dtype.itemsize}")


def _bits(values: Numbers) -> list[str]:
    width = values.dtype.itemsize * 8
    return [format(int(value) & ((1 << width) - 1), f"0{width}b") for value in values]


def _from(values: list[int], like: Numbers) -> Numbers:
    width = like.dtype.itemsize * 8
    return np.array([value & ((1 << width) - 1) for value in values], dtype=f"u{like.dtype.itemsize}").view(
        like.dtype
    )


def _exact(function: Callable[[int, int], int]) -> Callable[[Numbers, Numbers], Numbers]:
    """A reference that computes with Python's integers and keeps the low bits."""
    return lambda a, b: _from([function(int(x), int(y)) for x, y in zip(a, b, strict=True)], a)


def _exact_unsigned(function: Callable[[int, int], int]) -> Callable[[Numbers, Numbers], Numbers]:
    exact = _exact(function)
    return lambda a, b: exact(_unsigned(a), _unsigned(b)).view(a.dtype)


def _fits(value: int, width: int, *, signed: bool) -> bool:
    return -(1 << width - 1) <= value < 1 << width - 1 if signed else 0 <= value < 1 << width


def _overflow(operation: str, signed: bool, type_: str) -> Snippet:
    width = int(type_[1:])
    function = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}[operation]
    intrinsic = f"llvm.{'s' if signed else 'u'}{operation}.with.overflow.{type_}"
    body = f"""%p = call {{ {type_}, i1 }} @{intrinsic}({type_} %a, {type_} %b)
        %v = extractvalue {{ {type_}, i1 }} %p, 0
        %o = extractvalue {{ {type_}, i1 }} %p, 1
        %r = select i1 %o, {type_} 77, {type_} %v"""
    reference = (_exact if signed else _exact_unsigned)(
        lambda x, y: function(x, y) if _fits(function(x, y), width, signed=signed) else 77
    )
    return Snippet(f"{intrinsic}", type_, body, reference)


def _unary(name: str, type_: str, more: str, expected: Callable[[Numbers, Numbers], Numbers]) -> Snippet:
    return Snippet(f"{name}.{type_}", type_, f"%r = call {type_} @llvm.{name}.{type_}({type_} %a{more})", expected)


def _binary(name: str, type_: str, expected: Callable[[Numbers, Numbers], Numbers]) -> Snippet:
    body = f"%r = call {type_} @llvm.{name}.{type_}({type_} %a, {type_} %b)"
    return Snippet(f"{name}.{type_}", type_, body, expected)


def _trailing(values: Numbers, other: Numbers) -> Numbers:
    return _from([len(bits) - len(bits.rstrip("0")) for bits in _bits(values)], values)


def _leading(values: Numbers, other: Numbers) -> Numbers:
    return _from([len(bits) - len(bits.lstrip("0")) for bits in _bits(values)], values)


def _saturated(function: Callable[[int, int], int], signed: bool) -> Callable[[Numbers, Numbers], Numbers]:
    def reference(a: Numbers, b: Numbers) -> Numbers:
        limits = np.iinfo(a.dtype if signed else _unsigned(a).dtype)
        exact = (_exact if signed else _exact_unsigned)(
            lambda x, y: min(max(function(x, y), int(limits.min)), int(limits.max))
        )
        return exact(a, b)

    return reference


def _funnel_left(a: int, b: int, width: int, amount: int) -> int:
    return (a << amount % width) | (b >> width - amount % width if amount % width else 0)


WIDTHS = ("i8", "i16", "i32", "i64")
SNIPPETS = [
    *(
        _overflow(operation, signed, type_)
        for operation in ("add", "sub", "mul")
        for signed in (True, False)
        for type_ in WIDTHS
    ),
    *(_unary("cttz", type_, ", i1 false", _trailing) for type_ in WIDTHS),
    *(_unary("ctlz", type_, ", i1 false", _leading) for type_ in WIDTHS),
    *(
        _unary("ctpop", type_, "", lambda a, b: _from([bits.count("1") for bits in _bits(a)], a))
        for type_ in WIDTHS
    ),
    *(_unary("abs", type_, ", i1 false", lambda a, b: _exact(lambda x, y: abs(x))(a, b)) for type_ in WIDTHS),
    *(_unary("bswap", type_, "", lambda a, b: a.byteswap()) for type_ in WIDTHS[1:]),
    *(_binary("smin", type_, np.minimum) for type_ in WIDTHS),
    *(
        _binary("umax", type_, lambda a, b: np.maximum(_unsigned(a), _unsigned(b)).view(a.dtype))
        for type_ in WIDTHS
    ),
    *(_binary("sadd.sat", type_, _saturated(int.__add__, True)) for type_ in WIDTHS),
    *(_binary("usub.sat", type_, _saturated(int.__sub__, False)) for type_ in WIDTHS),
    *(
        Snippet(
            f"fshl.{type_}",
            type_,
            f"%r = call {type_} @llvm.fshl.{type_}({type_} %a, {type_} %b, {type_} 5)",
            _exact_unsigned(lambda x, y, width=int(type_[1:]): _funnel_left(x, y, width, 5)),  # type: ignore[misc]
        )
        for type_ in WIDTHS
    ),
    Snippet(
        "fshl.variable",
        "i32",
        "%r = call i32 @llvm.fshl.i32(i32 %a, i32 7, i32 %b)",
        _exact_unsigned(lambda x, y: _funnel_left(x, 7, 32, y)),
    ),
    Snippet(
        "fshr.variable",
        "i16",
        "%r = call i16 @llvm.fshr.i16(i16 %a, i16 -7, i16 %b)",
        _exact_unsigned(lambda x, y: (x << 16 | 0xFFF9) >> y % 16),
    ),
    Snippet(
        "fshl.rotation",
        "i64",
        "%r = call i64 @llvm.fshl.i64(i64 %a, i64 %a, i64 %b)",
        _exact_unsigned(lambda x, y: _funnel_left(x, x, 64, y)),
    ),
    Snippet(
        "fshr.rotation",
        "i8",
        "%r = call i8 @llvm.fshr.i8(i8 %a, i8 %a, i8 %b)",
        _exact_unsigned(lambda x, y: (x << 8 | x) >> y % 8),
    ),
    Snippet(
        "scmp",
        "i32",
        "%c = call i8 @llvm.scmp.i8.i32(i32 %a, i32 %b)\n%r = sext i8 %c to i32",
        _exact(lambda x, y: (x > y) - (x < y)),
    ),
    Snippet("add.wraps", "i32", "%r = add i32 %a, %b", _exact(int.__add__)),
    Snippet("mul.wraps", "i16", "%r = mul i16 %a, %b", _exact(int.__mul__)),
    Snippet("sub.wraps", "i64", "%r = sub i64 %a, %b", _exact(int.__sub__)),
    Snippet(
        "signs",
        "i8",
        "%s = sext i8 %a to i32\n%u = zext i8 %b to i32\n%m = mul i32 %s, %u\n"
        "%h = ashr i32 %m, 3\n%r = trunc i32 %h to i8",
        lambda a, b: _exact(lambda x, y: x * (y & 255) >> 3)(a, b),
    ),
    Snippet(
        "narrow.compare",
        "i16",
        "%c = icmp ult i16 %a, %b\n%d = icmp slt i16 %a, %b\n%e = xor i1 %c, %d\n%f = zext i1 %e to i16\n"
        "%g = sext i1 %c to i16\n%r = sub i16 %f, %g",
        lambda a, b: (
            ((_unsigned(a) < _unsigned(b)) ^ (a < b)).astype(np.int16)
            + (_unsigned(a) < _unsigned(b)).astype(np.int16)
        ),
    ),
    Snippet(
        "narrow.shift",
        "i8",
        "%n = and i8 %b, 7\n%l = lshr i8 %a, %n\n%m = shl i8 %a, %n\n%s = ashr i8 %m, 2\n%r = xor i8 %l, %s",
        lambda a, b: _exact(lambda x, y: ((x & 255) >> (y & 7)) ^ (((((x << (y & 7)) & 255) ^ 128) - 128) >> 2))(
            a, b
        ),
    ),
    Snippet(
        "vector.reduce",
        "i32",
        "%v = insertelement <4 x i32> <i32 1, i32 2, i32 3, i32 4>, i32 %a, i32 1\n"
        "%w = insertelement <4 x i32> %v, i32 %b, i32 2\n"
        "%s = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %w)\n"
        "%m = call i32 @llvm.vector.reduce.smax.v4i32(<4 x i32> %w)\n%r = xor i32 %s, %m",
        lambda a, b: _exact(lambda x, y: (1 + x + y + 4) ^ max(1, x, y, 4))(a, b),
    ),
    Snippet(
        "conditions.in.vectors",
        "i32",
        "%v = insertelement <4 x i32> zeroinitializer, i32 %a, i32 1\n"
        "%w = insertelement <4 x i32> %v, i32 %b, i32 2\n"
        "%c = icmp slt <4 x i32> %w, <i32 5, i32 5, i32 -5, i32 0>\n%d = zext <4 x i1> %c to <4 x i64>\n"
        "%e = extractelement <4 x i1> %c, i32 2\n"
        "%f = extractelement <4 x i64> %d, i32 1\n%g = trunc i64 %f to i32\n"
        "%n = xor <4 x i1> %c, splat (i1 true)\n%o = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %n)\n"
        "%h = select i1 %e, i32 10, i32 20\n%i = add i32 %g, %h\n%j = zext i1 %o to i32\n%r = add i32 %i, %j",
        lambda a, b: ((a < 5).astype(np.int32) + np.where(b < -5, 10, 20) + 1).astype(np.int32),
    ),
    Snippet(
        "structure.value",
        "i32",
        "%s = insertvalue { i32, float } poison, i32 %a, 0\n%t = insertvalue { i32, float } %s, float 2.0, 1\n"
        "%u = extractvalue { i32, float } %t, 0\n%f = extractvalue { i32, float } %t, 1\n"
        "%g = fptosi float %f to i32\n"
        "%r = add i32 %u, %g",
        _exact(lambda x, y: x + 2),
    ),
    Snippet(
        "unaligned",
        "i32",
        "%q = getelementptr inbounds i8, ptr addrspace(1) %pa, i64 0\n"
        "%v = load <2 x i32>, ptr addrspace(1) %first, align 4\n"
        "%e = extractelement <2 x i32> %v, i32 1\n"
        "%w = load i32, ptr addrspace(1) %q, align 1\n%r = add i32 %w, %e",
        lambda a, b: a + a[1],
    ),
    Snippet(
        "bytes.as.index",
        "i32",
        "%n = and i64 %id, 7\n%o = shl nuw nsw i64 %n, 2\n"
        "%q = getelementptr inbounds i8, ptr addrspace(1) %second, i64 %o\n"
        "%v = load i32, ptr addrspace(1) %q, align 4\n"
        "%s = getelementptr inbounds nuw i8, ptr addrspace(1) %second, i64 12\n"
        "%w = load i32, ptr addrspace(1) %s, align 4\n%r = xor i32 %v, %w",
        lambda a, b: b[np.arange(COUNT) & 7] ^ b[3],
    ),
    Snippet(
        "atomics",
        "i32",
        "%x = atomicrmw add ptr addrspace(1) %pa, i32 %b monotonic, align 4\n"
        "%m = atomicrmw umax ptr addrspace(1) %pa, i32 5 monotonic, align 4\n"
        "%p = cmpxchg ptr addrspace(1) %pb, i32 %b, i32 9 monotonic monotonic, align 4\n"
        "%o = extractvalue { i32, i1 } %p, 0\n%t = extractvalue { i32, i1 } %p, 1\n%z = zext i1 %t to i32\n"
        "%y = sub i32 %m, %x\n%q = sub i32 %o, %b\n%s = add i32 %y, %q\n%r = add i32 %s, %z",
        _exact(lambda x, y: y + 1),
    ),
    Snippet(
        "frozen",
        "i32",
        "%f = freeze i32 %a\n%u = freeze i32 poison\n%z = and i32 %u, 0\n%g = add i32 %f, %f\n%r = or i32 %g, %z",
        _exact(lambda x, y: 2 * x),
    ),
    Snippet(
        "float.predicates",
        "float",
        "%n = fdiv float %b, %b\n%c = fcmp ueq float %a, %b\n%d = fcmp one float %a, %n\n"
        "%e = fcmp ugt float %a, %n\n"
        "%f = fcmp ord float %a, %n\n%g = fcmp uno float %n, 0.0\n%h = fcmp ult float %b, %a\n"
        "%i = uitofp i1 %c to float\n%j = select i1 %d, float 2.0, float 0.0\n"
        "%k = select i1 %e, float 4.0, float 0.0\n"
        "%l = select i1 %f, float 8.0, float 0.0\n%m = select i1 %g, float 16.0, float 0.0\n"
        "%o = select i1 %h, float 32.0, float 0.0\n%p = fadd float %i, %j\n"
        "%q = fadd float %p, %k\n%s = fadd float %q, %l\n"
        "%t = fadd float %s, %m\n%r = fadd float %t, %o",
        lambda a, b: _predicates(a, b),
    ),
]


def _predicates(a: Numbers, b: Numbers) -> Numbers:
    one = np.divide(b, b, where=b != 0, out=np.full_like(b, np.nan))
    unordered = np.isnan(one)
    total = (a == b) * 1.0 + (~unordered & (a != one)) * 2.0 + (unordered | (a > one)) * 4.0
    total = total + ~unordered * 8.0 + unordered * 16.0 + (b < a) * 32.0
    return np.asarray(total, dtype=np.float32)


def _inputs(type_: str) -> tuple[Numbers, Numbers]:
    random = np.random.default_rng(11)
    if type_ == "float":
        first, second = random.integers(-3, 3, (2, COUNT)).astype(np.float32)
        return first, second
    limits = np.iinfo(f"i{_SIZES[type_]}")
    first, second = random.integers(limits.min, limits.max, (2, COUNT), dtype=limits.dtype, endpoint=True)
    first[:6] = [0, 1, -1, limits.min, limits.max, 40]
    second[2:8] = [-1, 1, limits.max, limits.max, limits.min, 0]
    return first, second


# Oclgrind has no `rotate` for these types in its own compiler's form, nor atomics in LLVM's.
@pytest.mark.compiled_devices
@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.name)
def test_instruction(context: cl.Context, snippet: Snippet) -> None:
    written = write_opencl_c(lower(snippet.module()))
    queue = cl.CommandQueue(context)
    first, second = _inputs(snippet.type)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=host) for host in (np.zeros_like(first), first, second)]
    program = build_uncached(context, written.text, [written.standard])
    program.k(queue, (COUNT,), None, *buffers)
    result = np.empty_like(first)
    cl.enqueue_copy(queue, result, buffers[0])
    with np.errstate(all="ignore"):
        expected = snippet.expected(first, second)
    np.testing.assert_array_equal(result, expected, err_msg=written.text)


@pytest.mark.parametrize(
    "between",
    [
        "%1 = freeze float %0\n%2 = fneg float %1",
        "%1 = bitcast float %0 to i32\n%2 = bitcast i32 %1 to float",
        "%1 = bitcast float %0 to <2 x half>\n%f = freeze <2 x half> %1\n%2 = bitcast <2 x half> %f to float",
    ],
)
def test_a_product_stands_apart_from_its_sum(between: str) -> None:
    body = f"%0 = fmul float %a, %b\n{between}\n%r = fadd float %2, %a"
    text = write_opencl_c(lower(Snippet("apart", "float", body, np.add).module(), "k")).text
    (line,) = (line for line in text.splitlines() if " + " in line)
    assert "*" not in line.partition("=")[2], text
