"""A file's arguments against the kernel's own parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from tests.opencl_bench.workloads.described.conftest import Write


def test_they_agree(write: Write) -> None:
    check_kernel_of(write())


LAST = '\n[[arguments]]\nname = "offset"\nscalar = "int2"\nvalue = [7, "n % 3"]\n'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (LAST, "", "arguments: there are 6; the kernel 'blend' has 7: output, input, shift,"),
        ('"factor"', '"weight"', r"arguments\[4\]: the kernel's parameter there is 'factor', not 'weight'"),
        ('scalar = "uint"', 'scalar = "int"', r"arguments\[5\]: 'count' is of type uint in the kernel, not int"),
        ('buffer = "float4"', 'buffer = "float"', r"arguments\[1\]: 'input' is of type float4 in the kernel"),
        ('local = "float"', 'local = "int"', r"arguments\[3\]: 'scratch' is of type float in the kernel"),
        (
            'scalar = "uint"\nvalue = "n"',
            'buffer = "uint"\nelements = 1\nvalues = "zeros"',
            r"arguments\[5\]: 'count' is a parameter of the kind scalar in the kernel, not buffer",
        ),
        ('kernel = "blend"', 'kernel = "blur"', "blur"),
    ],
)
def test_differences(write: Write, old: str, new: str, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words) as caught:
        check_kernel_of(write((old, new)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("declaration", "argument", "words"),
    [
        ("global real *v", 'buffer = "float"\nelements = 1', None),
        ("global Pair *v", 'buffer = "uint"\nelements = 2', None),
        ("global three *v", 'buffer = "float3"\nelements = 2', None),
        ("global Pair *v", 'buffer = "bytes"\nelement_bytes = 8\nelements = 2', None),
        ("Pair v", 'scalar = "bytes"\nvalue = "0100000002000000"', None),
        ("Pair v", 'scalar = "bytes"\nvalue = "01"', "'v' has 8 bytes in the kernel, not 1"),
        ("Pair v", 'scalar = "int"\nvalue = 1', "'v' has 8 bytes in the kernel, not 4"),
        (
            "read_only image1d_buffer_t v",
            'buffer = "int"\nelements = 1',
            "'v' is of type image1d_buffer_t, which a",
        ),
        ("read_only image2d_t v", 'buffer = "int"\nelements = 1', "'v' is a parameter of the kind image in"),
    ],
)
def test_named_types(tmp_path: Path, declaration: str, argument: str, words: str | None) -> None:
    types = "typedef float real; typedef struct { int a, b; } Pair; typedef float3 three;\n"
    (tmp_path / "k.cl").write_text(f"{types}kernel void k(global int *o, {declaration}) {{ o[0] = 1; }}\n")
    values = 'values = "zeros"' if "buffer" in argument else ""
    path = tmp_path / "k.toml"
    path.write_text(
        'file = "k.cl"\nkernel = "k"\noutputs = ["o"]\nndrange = {global_size = [4], local_size = [2]}\n'
        f'[sizes.test]\n[[arguments]]\nname = "o"\nbuffer = "int"\nelements = 1\n'
        f'[[arguments]]\nname = "v"\n{argument}\n{values}\n'
    )
    if words is None:
        check_kernel_of(path)
    else:
        with pytest.raises(InvalidInputError, match=words):
            check_kernel_of(path)
