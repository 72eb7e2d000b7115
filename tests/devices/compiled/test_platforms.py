"""What is read in the texts and binaries of each platform, as they were recorded."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from coarsen.devices.compiled.build import Build, ProgramText
from coarsen.devices.compiled.intel import intel_facts
from coarsen.devices.compiled.nvidia import nvidia_facts
from coarsen.devices.compiled.platforms import Platform, facts_of
from coarsen.devices.compiled.pocl import pocl_facts
from coarsen.models.compiled.facts import CompiledFacts
from tests.devices.compiled.files import SCALE, elf, with_function

LOG_OF_INTEL = """Compilation started
Compilation done
Device build done
remark: <unknown>:0:0: Loop was 4-way vectorized
remark: <unknown>:0:0: Kernel was 16-way vectorized2 gathers1 scatters
remark: <unknown>:0:0: Kernel was 16-way vectorized3 gathers
remark: <unknown>:0:0: 138 instructions in function
Kernel "scale" was successfully vectorized (16)
Done."""
LOG_OF_NVIDIA = """
ptxas info    : 0 bytes gmem, 8 bytes cmem[3]
ptxas info    : Compiling entry function 'other' for 'sm_90'
ptxas info    : Function properties for other
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 360 bytes cmem[0]
ptxas info    : Compiling entry function 'scale' for 'sm_90'
ptxas info    : Function properties for scale
    48 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 61 registers, used 1 barriers, 4224 bytes smem, 380 bytes cmem[0]
"""
PTX = """
.version 8.0
.target sm_90, texmode_independent
.address_size 64
.entry scale(
\t.param .u64 .ptr .global .align 4 scale_param_0
)
{
\t.local .align 8 .b8 \t__local_depot0[48];
\t.reg .pred \t%p<2>;
\t.reg .b32 \t%r<5>;
\tld.param.u64 \t%rd1, [scale_param_0];
\tmov.u32 \t%r1, %envreg3;
\t{ // callseq 0, 0
\t.param .b32 param0;
\tcall.uni (retval0),
\tsin,
\t(
\tparam0
\t);
\t} // callseq 0
$L__BB0_1:
\t@%p1 bra \t$L__BB0_1;
\tbar.sync \t0;
\tret;

}
.entry other()
{
\tret;
}
\0"""
SOURCE = """kernel void scale(global float *values, int count) {
    float sum = 0;
    for (int k = 0; k < count; ++k)
        sum += values[k];
    values[get_global_id(0)] = sum;
}
"""
REMARKS = (
    "<unknown>:0:0: '_pocl_kernel_scale' inlined into '_pocl_kernel_scale_workgroup' with (cost=always)"
    "/tmp/tempfile_a.cl:3:5: vectorized loop (vectorization width: 4, interleaved count: 1)"
    "/tmp/tempfile_a.cl:5:5: vectorized loop (vectorization width: 8, interleaved count: 4)"
    "<unknown>:0:0: vectorized loop (vectorization width: 16, interleaved count: 2)<unknown>:0:0: hoisting mul"
)


def built(log: str = "", output: str = "", binary: bytes = b"", kernels: tuple[str, ...] = ("scale",)) -> Build:
    return Build(ProgramText("scale", SOURCE), kernels, log, output, binary)


def intel_binary() -> bytes:
    return elf({".ocl.ir": b"BC", ".ocl.obj": with_function("scale")}, {})


def pocl_binary() -> bytes:
    library = with_function("_pocl_kernel_scale_workgroup")
    entries = (b"/program.bc", b"BC"), (b"/scale/0-0-0/scale.so", library)
    return b"poclbin\0" + b"".join(name + struct.pack("<I", len(data)) + data for name, data in entries)


def test_intel_tells_lanes_of_both_kinds_and_the_code() -> None:
    facts = intel_facts(built(LOG_OF_INTEL, binary=intel_binary()))
    assert (facts.item_lanes, facts.loop_lanes, facts.vectorised) == (16, 4, "both")
    assert (facts.code_bytes, facts.instructions) == (len(SCALE), 39)
    assert (facts.gathers, facts.scatters) == (0, 0), "those of the code, not of the remarks"


def test_without_code_intel_s_remarks_count_gathers() -> None:
    facts = intel_facts(built(LOG_OF_INTEL))
    assert (facts.gathers, facts.scatters, facts.code_bytes) == (5, 1, None)


def test_a_kernel_that_intel_left_scalar() -> None:
    log = LOG_OF_INTEL.replace("successfully vectorized (16)", "not vectorized")
    facts = intel_facts(built(log))
    assert (facts.item_lanes, facts.loop_lanes, facts.gathers, facts.vectorised) == (1, 4, 0, "loop")


def test_of_several_kernels_intel_s_remarks_tell_nothing() -> None:
    facts = intel_facts(built(LOG_OF_INTEL, kernels=("scale", "other")))
    assert facts == CompiledFacts(item_lanes=16)


@pytest.mark.parametrize("log", ["", "Device build done", 'Kernel "other" was successfully vectorized (8)'])
def test_a_log_that_says_nothing_of_the_kernel(log: str) -> None:
    assert intel_facts(built(log)) == CompiledFacts()


def test_pocl_s_loops_are_told_by_their_places() -> None:
    facts = pocl_facts(built(output=REMARKS, binary=pocl_binary()))
    assert (facts.item_lanes, facts.loop_lanes, facts.vectorised) == (16, 4, "both")
    assert (facts.code_bytes, facts.instructions) == (len(SCALE), 39)


def test_pocl_s_silence_is_not_a_fact() -> None:
    assert pocl_facts(built()) == CompiledFacts()
    assert pocl_facts(built(output=REMARKS, kernels=("scale", "other"))) == CompiledFacts()
    nothing = pocl_facts(built(output=REMARKS.partition("/tmp")[0]))
    assert (nothing.item_lanes, nothing.loop_lanes, nothing.vectorised) == (1, 1, "nothing")


def test_nvidia_s_assembler_tells_of_the_kernel_that_is_meant() -> None:
    facts = nvidia_facts(built(LOG_OF_NVIDIA, binary=PTX.encode(), kernels=("other", "scale")))
    assert facts == CompiledFacts(registers=61, spilled_bytes=12, frame_bytes=48, local_bytes=4224, instructions=6)


def test_an_old_log_without_names_is_of_the_only_kernel() -> None:
    log = "ptxas info    : Used 21 registers, 1024+16 bytes smem, 380 bytes cmem[0]"
    assert nvidia_facts(built(log)) == CompiledFacts(registers=21, local_bytes=1040)
    assert nvidia_facts(built(log, kernels=("scale", "other"))) == CompiledFacts()


def test_occupancy_needs_the_capability_and_a_local_size() -> None:
    build = built(LOG_OF_NVIDIA, kernels=("other", "scale"))
    program = replace(build.program, local_size=(16, 16))
    assert nvidia_facts(build).occupancy is None
    assert nvidia_facts(replace(build, capability=(9, 0))).occupancy is None
    # 64 registers: four groups of 256 work-items of 2048.
    assert nvidia_facts(replace(build, program=program, capability=(9, 0))).occupancy == 0.5
    assert nvidia_facts(replace(build, program=program, capability=(99, 0))).occupancy is None


def test_a_binary_that_is_no_text_has_no_instructions() -> None:
    assert nvidia_facts(built(binary=bytes(range(256)))) == CompiledFacts()
    assert nvidia_facts(built(binary=b".entry scale(")) == CompiledFacts()


def test_the_reader_s_word_comes_before_opencl_s() -> None:
    platform = Platform(lambda _: CompiledFacts(local_bytes=5), unreliable=("private_bytes",))
    reported = CompiledFacts(local_bytes=4, private_bytes=1024, group_multiple=8)
    assert facts_of(platform, built(), reported) == CompiledFacts(local_bytes=5, group_multiple=8)
