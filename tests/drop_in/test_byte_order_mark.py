"""A byte-order mark, which editors on Windows put at the head of a text, is no part of a source."""

from __future__ import annotations

from pathlib import Path

import numpy
import pyopencl
import pytest

import coarsen
from coarsen.opencl_bench.workloads.described.read import read_table

MARK = "\ufeff"
SOURCE = f"{MARK}// made on Windows\nkernel void k(global float *o) {{ o[get_global_id(0)] = 3; }}\n"


@pytest.mark.parametrize("factor", [2, None])
def test_a_program_builds_from_such_a_string(queue: pyopencl.CommandQueue, factor: int | None) -> None:
    program = coarsen.Program(queue.context, SOURCE, factor=factor).build()
    result = numpy.zeros(64, numpy.float32)
    flags = pyopencl.mem_flags
    buffer = pyopencl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=result)
    program.k(queue, (64,), (16,), buffer)
    pyopencl.enqueue_copy(queue, result, buffer)
    assert (result == 3).all()


def test_every_entry_takes_such_a_string(tmp_path: Path) -> None:
    plain = SOURCE.removeprefix(MARK)
    text = coarsen.coarsen(plain, factor=2).opencl_c
    assert coarsen.coarsen(SOURCE, factor=2).opencl_c == text
    assert coarsen.coarsen(MARK + coarsen.coarsen(plain, factor=1).llvm_ir, factor=2).opencl_c == text
    assert coarsen.compile_source(SOURCE).kernels == ("k",)
    assert str(coarsen.explain(SOURCE)) == str(coarsen.explain(plain))
    assert coarsen.predict(SOURCE, device="tahiti").factor == coarsen.predict(plain, device="tahiti").factor
    (tmp_path / "k.cl").write_text(SOURCE)
    assert coarsen.coarsen(tmp_path / "k.cl", factor=2).opencl_c == text


def test_files_that_are_included_may_have_one(tmp_path: Path) -> None:
    (tmp_path / "n.h").write_text(f"{MARK}#define N 3\n")
    (tmp_path / "all.h").write_text(f'{MARK}#include "n.h"\n')
    source = f'{MARK}#include "all.h"\nkernel void k(global int *o) {{ o[get_global_id(0)] = N; }}'
    assert coarsen.coarsen(source, factor=2, options=["-I", str(tmp_path)]).opencl_c.count("= 3;") == 2


def test_a_description_may_have_one(tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_text(f'{MARK}kernel = "k"\n')
    assert read_table(tmp_path / "k.toml").text("kernel") == "k"
