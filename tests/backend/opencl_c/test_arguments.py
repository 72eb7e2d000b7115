"""What an LLVM IR file records of arguments is text of its maker's, and is never copied into OpenCL C."""

from __future__ import annotations

import re

import pytest

from coarsen.api import coarsen
from coarsen.frontend.compile import Source, compilations
from coarsen.frontend.device_macros import PORTABLE
from coarsen.frontend.options import BuildOptions

KERNEL = """
kernel void pic(read_only image2d_t source, write_only image2d_t target, sampler_t how, global float *out)
{
    int2 place = (int2)(get_global_id(0), get_global_id(1));
    float4 pixel = read_imagef(source, how, place);
    write_imagef(target, place, pixel);
    out[place.x] = pixel.x;
}
"""
SIGNATURE = "read_only image2d_t source, write_only image2d_t target, sampler_t how, global float* out"
EVIL = "x) { } kernel void evil(global int *"


def signature(assembly: str) -> str:
    """The parameters of what comes out, in one line."""
    text = coarsen(assembly, factor=1).opencl_c
    assert "evil(" not in text
    return " ".join(text[text.index("(") + 1 : text.index(")")].split())


@pytest.fixture(scope="module")
def assembly() -> str:
    return next(compilations(Source(KERNEL), BuildOptions(), PORTABLE))


def test_types_of_images_are_those_of_llvm(assembly: str) -> None:
    assert signature(assembly) == SIGNATURE
    assert signature(assembly.replace('"image2d_t"', f'"{EVIL}"')) == SIGNATURE
    assert signature(assembly.replace('"image2d_t"', '"image3d_t"').replace('"sampler_t"', '"int"')) == SIGNATURE


def test_how_an_image_is_used_is_what_llvm_says(assembly: str) -> None:
    assert signature(assembly.replace('!"read_only"', '!"write_only"')) == SIGNATURE
    assert signature(assembly.replace('!"read_only"', f'!"{EVIL}"')) == SIGNATURE


def test_a_type_that_is_none_is_left_out(assembly: str) -> None:
    assert signature(assembly.replace('"float*"', f'"float {EVIL}"')).endswith("global char* out")


def test_a_name_that_is_none_is_made_one(assembly: str) -> None:
    named = re.sub(r"%out\b(?!\.)", f'%"{EVIL}"', assembly)
    assert signature(named).count(",") == 3
