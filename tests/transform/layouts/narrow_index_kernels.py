"""Kernels whose indices, or coordinates, are numbers of 8 bits: there, what wraps is an element of the array.

OpenCL C computes with 32 bits at least, and no array here is as large as these hold. So the kernels are LLVM IR;
the source says the same.
"""

from __future__ import annotations

from tests.transform.layouts.order_kernels import HEAD, OrderKernel, OrderLaunch

_IR = """target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %to, ptr addrspace(1) %from, i8 %height, i8 %width)
    !kernel_arg_addr_space !0 !kernel_arg_access_qual !1 !kernel_arg_type !2 !kernel_arg_base_type !2
    !kernel_arg_type_qual !3 !kernel_arg_name !4 {{
entry:
  %id0 = call spir_func i64 @_Z13get_global_idj(i32 0)
  %x = trunc i64 %id0 to i8
  %id1 = call spir_func i64 @_Z13get_global_idj(i32 1)
  %y = trunc i64 %id1 to i8
  %lower = add i8 %y, 5
  %within = icmp ult i8 %x, %width
  %limit = sub i8 %height, {missing}
  %below = icmp ult i8 %y, %limit
  %inside = and i1 %within, %below
  br i1 %inside, label %body, label %end

body:
  %start = mul i8 %y, %width
  %at = add i8 %start, %x
  %wide_y = zext i8 %y to i64
  %wide_width = zext i8 %width to i64
  %wide_start = mul i64 %wide_y, %wide_width
  %wide_x = zext i8 %x to i64
  %wide_at = add i64 %wide_start, %wide_x
  %is_there = icmp {guard}
  br i1 %is_there, label %there, label %end

there:
{body}
  %source = getelementptr inbounds i32, ptr addrspace(1) %from, i64 %read
  %value = load i32, ptr addrspace(1) %source, align 4
  %target = getelementptr inbounds i32, ptr addrspace(1) %to, i64 %write
  store i32 %value, ptr addrspace(1) %target, align 4
  br label %end

end:
  ret void
}}

declare spir_func i64 @_Z13get_global_idj(i32)

!0 = !{{i32 1, i32 1, i32 0, i32 0}}
!1 = !{{!"none", !"none", !"none", !"none"}}
!2 = !{{!"int*", !"int*", !"uchar", !"uchar"}}
!3 = !{{!"", !"const", !"", !""}}
!4 = !{{!"to", !"from", !"height", !"width"}}
"""


def _kernel(
    name: str,
    elements: tuple[str, str],
    guards: tuple[str, str],
    body: str,
    launches: tuple[OrderLaunch, ...],
    *,
    is_split: bool = True,
    missing: int = 0,
) -> OrderKernel:
    """A kernel that copies an element.

    Args:
        name: of the test.
        elements: the indices of what is written and what is read, in OpenCL C.
        guards: what else has to hold, in OpenCL C and in LLVM IR.
        body: defines `%read` and `%write`.
        launches: as an `OrderKernel` has them.
        is_split: the same.
        missing: how many rows there are less than the height.
    """
    source = f"""{HEAD}, uchar height, uchar width) {{
    uchar x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < (uchar)(height - {missing}) && {guards[0]})
        to[{elements[0]}] = from[{elements[1]}];
}}"""
    return OrderKernel(name, source, is_split, launches, _IR.format(guard=guards[1], body=body, missing=missing))


def _launches(*shapes: tuple[int, int]) -> tuple[OrderLaunch, ...]:
    """Launches as the arrays are, and one of the first array that has the second one's numbers."""
    told = [*((shape, shape) for shape in shapes), shapes[:2]]
    return tuple(
        OrderLaunch(shape, numbers, (numbers[1] + numbers[1] % 2, numbers[0]), bits=8) for shape, numbers in told
    )


_NO_GUARD = ("1", "uge i8 %x, 0")
_NOT_THE_FIRST = ("y * width + x > 0", "ne i8 %at, 0")
_FIVE_LOWER = ("y + 5 < height", "ult i8 %lower, %height")

NARROW_INDICES = (
    _kernel(
        # Of 256 elements, the one before the first is the last.
        "bytes_that_wrap",
        ("(uchar)(y * width + x)", "(uchar)(y * width + x - 1)"),
        _NO_GUARD,
        """  %before = add i8 %at, -1
  %read = zext i8 %before to i64
  %write = zext i8 %at to i64""",
        _launches((16, 16), (8, 32), (32, 8), (128, 2)),
    ),
    _kernel(
        "bytes_that_wrap_in_rows",
        ("(uchar)((y - 2) * width + x + 7)", "(uchar)((y + 3) * width + x - 5)"),
        _NO_GUARD,
        """  %later = add i8 %y, 3
  %later_start = mul i8 %later, %width
  %later_at = add i8 %later_start, %x
  %moved = add i8 %later_at, -5
  %earlier = sub i8 %y, 2
  %earlier_start = mul i8 %earlier, %width
  %earlier_at = add i8 %earlier_start, %x
  %written = add i8 %earlier_at, 7
  %read = zext i8 %moved to i64
  %write = zext i8 %written to i64""",
        _launches((16, 16), (8, 32), (32, 8)),
    ),
    _kernel(
        # Of less than two rows there are 254 or 255 left, and the index of row 16 is that of row 0.
        "rows_that_wrap",
        ("(uchar)(y * width + x)", "(uchar)(y * width + x)"),
        ("y > 14", "ugt i8 %y, 14"),
        """  %read = zext i8 %at to i64
  %write = zext i8 %at to i64""",
        (
            OrderLaunch((16, 16), (1, 16), (16, 20), bits=8),
            OrderLaunch((16, 16), (0, 16), (16, 20), bits=8),
            OrderLaunch((16, 16), (16, 16), (16, 20), bits=8),
        ),
        missing=2,
    ),
    _kernel(
        "bytes_before",
        ("(uchar)(y * width + x)", "(uchar)(y * width + x - 1)"),
        _NOT_THE_FIRST,
        """  %before = add i8 %at, -1
  %read = zext i8 %before to i64
  %write = zext i8 %at to i64""",
        _launches((8, 16), (16, 8), (6, 10), (20, 12), (100, 1)),
    ),
    _kernel(
        "bytes_with_a_sign_before",
        ("(char)(y * width + x)", "(char)(y * width + x - 1)"),
        _NOT_THE_FIRST,
        """  %before = add i8 %at, -1
  %read = sext i8 %before to i64
  %write = sext i8 %at to i64""",
        _launches((8, 16), (16, 8), (6, 10), (40, 3), (100, 1)),
    ),
    _kernel(
        # Of the first column the byte before is 255, and that element is there.
        "columns_without_a_sign_before",
        ("y * width + x", "y * width + (uchar)(x - 1)"),
        ("y * width < 145", "ult i64 %wide_start, 145"),
        """  %before = add i8 %x, -1
  %wide_before = zext i8 %before to i64
  %read = add i64 %wide_start, %wide_before
  %write = add i64 %wide_at, 0""",
        _launches((40, 10), (20, 20)),
        is_split=False,
    ),
    _kernel(
        "later_columns_without_a_sign_before",
        ("y * width + x", "y * width + (uchar)(x - 3)"),
        ("x > 2", "ugt i8 %x, 2"),
        """  %before = add i8 %x, -3
  %wide_before = zext i8 %before to i64
  %read = add i64 %wide_start, %wide_before
  %write = add i64 %wide_at, 0""",
        _launches((6, 10), (10, 6), (3, 200), (20, 4), (30, 2)),
    ),
    _kernel(
        # 200 columns and 60 more are beyond 255.
        "columns_beyond",
        ("y * width + x", "y * width + (uchar)(x + 60)"),
        _FIVE_LOWER,
        """  %beyond = add i8 %x, 60
  %wide_beyond = zext i8 %beyond to i64
  %read = add i64 %wide_start, %wide_beyond
  %write = add i64 %wide_at, 0""",
        _launches((8, 100), (8, 64), (8, 61), (8, 200), (8, 128)),
    ),
    _kernel(
        # 68 columns and 60 more are beyond 127.
        "columns_with_a_sign_beyond",
        ("y * width + x", "(y + 2) * width + (char)(x + 60)"),
        _FIVE_LOWER,
        """  %beyond = add i8 %x, 60
  %wide_beyond = sext i8 %beyond to i64
  %early = add i64 %wide_start, %wide_beyond
  %two_rows = mul i64 %wide_width, 2
  %read = add i64 %early, %two_rows
  %write = add i64 %wide_at, 0""",
        _launches((8, 100), (8, 110), (8, 90), (8, 200), (8, 128)),
    ),
    _kernel(
        "columns_with_a_sign_in_short_rows",
        ("y * width + x", "(y + 1) * width + (char)(x - 60)"),
        _FIVE_LOWER,
        """  %before = add i8 %x, -60
  %wide_before = sext i8 %before to i64
  %early = add i64 %wide_start, %wide_before
  %read = add i64 %early, %wide_width
  %write = add i64 %wide_at, 0""",
        _launches((8, 64), (8, 61), (8, 63), (8, 100), (8, 128)),
    ),
)
