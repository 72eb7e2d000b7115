"""The kernels of a reduction, written in OpenCL C, and what may vary about them.

A row of elements is cut into chunks of LOCAL · LANES neighbours. Of each chunk, a work-item takes every LOCALth
element, and has a result for each of its LANES; those of a work-group are combined in local memory. A row goes to
GROUPS work-groups; where these are several, a second kernel combines their results:

    GROUPS = 1                chunks 0 1 2 3 4 5 ─▶ reduce ─▶ result
    GROUPS = 2, ACCESS = 0    0 1 2 │ 3 4 5      ─▶ reduce ─▶ parts ─▶ reduce_finish ─▶ result
    GROUPS = 2, ACCESS = 1    0 2 4 │ 1 3 5      ─▶ …
    FORM = 1                  each work-item reduces a row by itself

Results of a chunk are combined in a tree, first those of a work-item's lanes, then in local memory, where every
level ends at a barrier that all work-items of the group come to. So the order depends on LOCAL · LANES, GROUPS and
ACCESS alone; reproducible reductions pin these. What has no element has the identity. The tree is that of Harris,
"Optimizing Parallel Reduction in CUDA" (2007), without its last levels, which have no barriers; figure 8 of Samadi
et al., "Adaptive Input-aware Compilation" (PLDI 2012), adds a partial result twice, and is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from types import MappingProxyType
from typing import Any

import numpy as np
from pyopencl.cltypes import vec_type_to_scalar_and_count
from pyopencl.tools import ScalarArg, VectorArg, dtype_to_ctype, get_arg_offset_adjuster_code, parse_arg_list

from coarsen.base.names import is_opencl_word
from coarsen.errors import InvalidInputError, one_line

KERNEL, FINISH = "reduce", "reduce_finish"
OPTIONS = ("-cl-std=CL1.2",)
RESULT = "reduce_result"
# The values that a tuned file may choose; the first is the default.
PARAMETERS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "GROUPS": (1, 4, 16, 64, 256, 1024),
        "LOCAL": (1, 16, 32, 256, 1024),
        "LANES": (8, 4, 1, 64),
        "ACCESS": (0, 1),
        "FORM": (0, 1),
    }
)
# With the same order of operations in all versions: what a CPU makes lanes of, a GPU makes work-items.
PINNED: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"GROUPS": (256,), "LOCAL": (1, 256), "LANES": (256, 1), "ACCESS": (0,), "FORM": (0,)}
)
# What a text of the user's can't name, since it would be something else there.
_OWN_NAMES = re.compile(rf"\b(?:(?:reduce|REDUCE)_\w*|{'|'.join(PARAMETERS)})\b")
_SYMBOL = re.compile(r"[A-Za-z_]\w*")
# Functions that the kernels call.
BUILTIN = re.compile(r"min|max|clamp|barrier|get_\w+")
_INDICES = ("i", "row")
# A product is a power of two where each of its factors is one.
_PRODUCT = "GROUPS * LOCAL * LANES"
_POWERS = f"#if {_PRODUCT} < 1 || ({_PRODUCT} & ({_PRODUCT} - 1)) || FORM < 0 || FORM > 1"
Argument = VectorArg | ScalarArg


@dataclass(frozen=True, slots=True)
class Operation:
    """What is reduced, and how two results become one.

    Args:
        operator: an expression of `a` and `b`; of the place of the best value, "<" or ">", what that is to others.
        identity: an expression; the operator makes of it and any other value that value.
        map: an expression of `i`, of `row` and of the arguments.
        arguments: the kernel's.
        dtype: of what is combined, numbers or vectors of them.
        length: the name of the number of elements of a row.
        rows: the name of the number of rows; empty where there is one result.
        preamble: OpenCL C before the kernels.
        finds_place: whether the result is the place of the best value.
    """

    operator: str
    identity: str
    map: str
    arguments: tuple[Argument, ...]
    dtype: np.dtype[Any]
    length: str
    rows: str = ""
    preamble: str = ""
    finds_place: bool = False

    @property
    def result_dtype(self) -> np.dtype[Any]:
        """The type of a result: a place is a `long`."""
        return np.dtype(np.int64) if self.finds_place else self.dtype

    @property
    def number_types(self) -> set[np.dtype[Any]]:
        """The types of numbers that the kernels have."""
        return {numbers_of(self.dtype)[0], *(each.dtype for each in self.arguments)}

    @property
    def part_bytes(self) -> int:
        """The bytes of a work-group's result: a value, or one with its place, a `long`."""
        return 16 if self.finds_place else self.dtype.itemsize

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes that the kernel takes after the arguments."""
        return (self.length, self.rows) if self.rows else (self.length,)

    @property
    def conditions(self) -> list[str]:
        """The conditions of the macros: one group has nothing to stride over, nor has a work-item."""
        return ["ACCESS < GROUPS", *(["FORM * GROUPS <= 1"] if self.rows else [])]

    def parameters(self, *, is_pinned: bool = False) -> dict[str, tuple[int, ...]]:
        """Return the macros that may vary, each with its values, the default first.

        Args:
            is_pinned: whether the order in which elements are combined may not.
        """
        known = PINNED if is_pinned else PARAMETERS
        return {name: each for name, each in known.items() if len(each) > 1 and (self.rows or name != "FORM")}


def parsed_arguments(text: str) -> tuple[Argument, ...]:
    """Return what a list of declarations in C says, `const float *x, int k`.

    Raises:
        InvalidInputError: it is none, or one of its types is no number.
    """
    try:
        found = tuple(parse_arg_list(text, with_offset=True))
    except (RuntimeError, ValueError, KeyError) as error:
        raise InvalidInputError(f"the arguments {text!r} can't be read: {one_line(str(error))}") from None
    for each in found:
        check_number(each.dtype, f"the argument {each.name}")
    return tuple(each for each in found if isinstance(each, VectorArg | ScalarArg))


def numbers_of(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], int]:
    """Return the type of a vector's components and how many it has; of a number its own, and 1."""
    return vec_type_to_scalar_and_count.get(dtype, (dtype, 1))


def check_number(dtype: np.dtype[Any], what: str) -> None:
    """Raise InvalidInputError for a type that isn't one number of OpenCL C's, a whole or a real one."""
    if dtype.kind not in "iuf" or dtype.itemsize > 8 or dtype == np.float16:
        raise InvalidInputError(f"{what} is of the type {dtype}, which is none of char to ulong, float and double")


def check_operation(operation: Operation) -> None:
    """Raise InvalidInputError for names that mean something else in the kernels, and for what is no expression."""
    for what in ("operator", "identity", "map", "preamble"):
        text: str = getattr(operation, what)
        if (found := _OWN_NAMES.search(text)) is not None:
            raise InvalidInputError(f"{what}: the name {found[0]} is the kernel's own")
        if what != "preamble" and (not text.strip() or any(mark in text for mark in ("//", "/*", "#", ";"))):
            raise InvalidInputError(f"{what}: {text!r} is no expression in C without comments")
    names = [*(each.name for each in operation.arguments), *operation.sizes]
    for name in names:
        is_taken = _OWN_NAMES.search(name) or name in _INDICES or BUILTIN.fullmatch(name) or is_opencl_word(name)
        if is_taken or not _SYMBOL.fullmatch(name):
            raise InvalidInputError(f"an argument or a size can't be called {name!r}")
        if names.count(name) > 1:
            raise InvalidInputError(f"the name {name} is there twice, among arguments and sizes")
    if not operation.rows and "row" in _SYMBOL.findall(operation.map):
        raise InvalidInputError("map: it names `row`, and there are no rows: rows='rows' names their number")


def text_of(operation: Operation, *, is_pinned: bool = False) -> str:
    """Return the kernels in OpenCL C.

    Args:
        operation: what is reduced.
        is_pinned: whether the order in which elements are combined is the same in all versions.
    """
    return _KERNELS.substitute(
        head="\n".join(_head(operation, is_pinned)),
        combining=_combining(operation),
        arguments=", ".join(_declarations(operation)),
        # Arrays begin so many bytes behind their buffers.
        pointers=get_arg_offset_adjuster_code(operation.arguments).replace("__global", "global const"),
        length=operation.length,
        rows=operation.rows or "1",
    )


def _head(operation: Operation, is_pinned: bool) -> Iterator[str]:
    """Yield the macros, with what may vary about them."""
    varying = operation.parameters(is_pinned=is_pinned)
    for name, values in (PINNED if is_pinned else PARAMETERS).items():
        if name in varying:
            yield from chosen(name, values)
        else:
            yield f"#ifdef {name}\n#error {name} is not to be chosen here\n#endif\n#define {name} {values[0]}"
    conditions = [f"LOCAL * LANES == {PINNED['LANES'][0]}"] if is_pinned else operation.conditions
    yield from (f"#pragma coarsen where {each}" for each in conditions)
    yield _POWERS + "".join(f" || !({each})" for each in conditions)
    yield f"#error GROUPS, LOCAL and LANES are powers of two, FORM is 0 or 1, {', '.join(conditions)}\n#endif"
    if not is_pinned:
        yield from (f"#pragma coarsen input {name} = {name}" for name in operation.sizes)
        yield "#define REDUCE_IN_ORDER"
    else:
        # The same bits on all devices: none makes one rounding of two, or a vector of a sum, as Intel's would.
        yield "#pragma OPENCL FP_CONTRACT OFF"
        yield '#define REDUCE_IN_ORDER _Pragma("clang loop vectorize(disable)")'
    if np.dtype(np.float64) in operation.number_types:
        yield "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"
    yield operation.preamble


def chosen(macro: str, values: Sequence[int]) -> Iterator[str]:
    """Yield a macro that `-D` or the tuner may choose, with its values, the default first."""
    yield f"#ifndef {macro}\n#pragma coarsen values {','.join(map(str, values))}"
    yield f"#define {macro} {values[0]}\n#endif"


def _combining(operation: Operation) -> str:
    """Return the type, the identity, the map, and the function that makes one result of two."""
    mapped = one_line(operation.map)
    for each in operation.arguments:
        if isinstance(each, VectorArg) and operation.rows:
            # m[row][i] of an array of rows.
            row = rf"\b{each.name}\s*\[\s*row\s*\](?=\s*\[)"
            mapped = re.sub(row, f"({each.name} + row * {operation.length})", mapped)
    return (_PLACE if operation.finds_place else _VALUE).substitute(
        type=dtype_to_ctype(operation.dtype),
        identity=one_line(operation.identity),
        map=mapped,
        operator=one_line(operation.operator),
        a_is_nan="isnan(a.value)" if operation.dtype.kind == "f" else "0",
        b_is_nan="isnan(b.value)" if operation.dtype.kind == "f" else "0",
    )


def _declarations(operation: Operation) -> Iterator[str]:
    """Yield what the kernel takes."""
    yield from (each.declarator().replace("__global", "global const") for each in operation.arguments)
    yield from (f"long {name}" for name in operation.sizes)
    yield from (f"global reduce_out_t *{RESULT}__base", f"long {RESULT}__offset")


_VALUE = Template("""\
typedef $type reduce_t;
typedef reduce_t reduce_result_t;
#define REDUCE_IDENTITY ((reduce_t) ($identity))
#define REDUCE_MAP ((reduce_t) ($map))
#define REDUCE_RESULT(found) (found)

reduce_t reduce_two(reduce_t a, reduce_t b)
{
    return $operator;
}""")

# The place of no element is the last of all: with the same value, the lower one is taken.
_PLACE = Template("""\
typedef struct {
    $type value;
    long place;
} reduce_t;
typedef long reduce_result_t;
#define REDUCE_IDENTITY reduce_at($identity, LONG_MAX)
#define REDUCE_MAP reduce_at($map, i)
#define REDUCE_RESULT(found) ((found).place == LONG_MAX ? -1L : (found).place)

reduce_t reduce_at($type value, long place)
{
    reduce_t found;
    found.value = value;
    found.place = place;
    return found;
}

reduce_t reduce_two(reduce_t a, reduce_t b)
{
    const int a_is_nan = $a_is_nan, b_is_nan = $b_is_nan;
    const int is_better = b_is_nan ? !a_is_nan : b.value $operator a.value;
    const int is_same = b_is_nan ? a_is_nan : b.value == a.value;
    return is_better || (is_same && b.place < a.place) ? b : a;
}""")

_KERNELS = Template("""\
$head
$combining

#if GROUPS > 1
typedef reduce_t reduce_out_t;
#define REDUCE_OUT(found) (found)
#else
typedef reduce_result_t reduce_out_t;
#define REDUCE_OUT(found) REDUCE_RESULT(found)
#endif
#define REDUCE_WIDTH (FORM == 1 ? 1 : LOCAL)
#define REDUCE_PARTS (GROUPS > LOCAL ? GROUPS / LOCAL : 1)
#define REDUCE_KERNEL kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void

// Unsigned, and shifted: PoCL 3.1 leaves loops out where a reach of 2 is divided by 2.
reduce_t reduce_tree(reduce_t *reduce_lanes, uint reduce_count)
{
    for (uint reduce_reach = reduce_count >> 1; reduce_reach > 0; reduce_reach >>= 1)
        for (uint reduce_lane = 0; reduce_lane < reduce_reach; ++reduce_lane)
            reduce_lanes[reduce_lane] =
                reduce_two(reduce_lanes[reduce_lane], reduce_lanes[reduce_lane + reduce_reach]);
    return reduce_lanes[0];
}

reduce_t reduce_in_group(local reduce_t *reduce_shared, reduce_t reduce_own)
{
    const uint reduce_item = get_local_id(0);
    reduce_shared[reduce_item] = reduce_own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reduce_reach = LOCAL >> 1; reduce_reach > 0; reduce_reach >>= 1) {
        if (reduce_item < reduce_reach)
            reduce_shared[reduce_item] =
                reduce_two(reduce_shared[reduce_item], reduce_shared[reduce_item + reduce_reach]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return reduce_shared[0];
}

REDUCE_KERNEL reduce($arguments)
{
#if FORM == 0 && LOCAL > 1
    local reduce_t reduce_shared[LOCAL];
#endif
$pointers
    global reduce_out_t *reduce_result =
        (global reduce_out_t *) ((global char *) reduce_result__base + reduce_result__offset);
#if FORM == 1
    const long row = get_global_id(0), reduce_group = 0, reduce_item = 0;
    if (row >= $rows)
        return;
#else
    const long row = get_group_id(0) / GROUPS, reduce_group = get_group_id(0) % GROUPS;
    const long reduce_item = get_local_id(0);
#endif
    const long reduce_chunks = $length / (LANES * REDUCE_WIDTH);
#if ACCESS == 0
    const long reduce_share = (reduce_chunks + GROUPS - 1) / GROUPS, reduce_step = 1;
    const long reduce_first = min(reduce_group * reduce_share, reduce_chunks);
    const long reduce_last = min(reduce_first + reduce_share, reduce_chunks);
#else
    const long reduce_first = reduce_group, reduce_last = reduce_chunks, reduce_step = GROUPS;
#endif
    reduce_t reduce_lanes[LANES];
    for (int reduce_lane = 0; reduce_lane < LANES; ++reduce_lane)
        reduce_lanes[reduce_lane] = REDUCE_IDENTITY;
    REDUCE_IN_ORDER
    for (long reduce_chunk = reduce_first; reduce_chunk < reduce_last; reduce_chunk += reduce_step)
        for (int reduce_lane = 0; reduce_lane < LANES; ++reduce_lane) {
            const long i = (reduce_chunk * LANES + reduce_lane) * REDUCE_WIDTH + reduce_item;
            reduce_lanes[reduce_lane] = reduce_two(reduce_lanes[reduce_lane], REDUCE_MAP);
        }
    // What is left, less than a chunk, is the last group's.
    if (reduce_group == GROUPS - 1)
        for (int reduce_lane = 0; reduce_lane < LANES; ++reduce_lane) {
            const long i = (reduce_chunks * LANES + reduce_lane) * REDUCE_WIDTH + reduce_item;
            if (i < $length)
                reduce_lanes[reduce_lane] = reduce_two(reduce_lanes[reduce_lane], REDUCE_MAP);
        }
    reduce_t reduce_own = reduce_tree(reduce_lanes, LANES);
#if FORM == 0 && LOCAL > 1
    reduce_own = reduce_in_group(reduce_shared, reduce_own);
#endif
    if (reduce_item == 0)
        reduce_result[row * GROUPS + reduce_group] = REDUCE_OUT(reduce_own);
}

REDUCE_KERNEL reduce_finish(global const reduce_t *reduce_parts, global reduce_result_t *reduce_result__base,
                            long reduce_result__offset)
{
#if LOCAL > 1
    local reduce_t reduce_shared[LOCAL];
#endif
    global reduce_result_t *reduce_result =
        (global reduce_result_t *) ((global char *) reduce_result__base + reduce_result__offset);
    const long row = get_group_id(0), reduce_item = get_local_id(0);
    reduce_t reduce_lanes[REDUCE_PARTS];
    for (int reduce_lane = 0; reduce_lane < REDUCE_PARTS; ++reduce_lane) {
        const long reduce_part = reduce_lane * LOCAL + reduce_item;
        reduce_lanes[reduce_lane] = REDUCE_IDENTITY;
        if (reduce_part < GROUPS)
            reduce_lanes[reduce_lane] = reduce_parts[row * GROUPS + reduce_part];
    }
    reduce_t reduce_own = reduce_tree(reduce_lanes, REDUCE_PARTS);
#if LOCAL > 1
    reduce_own = reduce_in_group(reduce_shared, reduce_own);
#endif
    if (reduce_item == 0)
        reduce_result[row] = REDUCE_RESULT(reduce_own);
}
""")
