"""Every code that says why a kernel is refused, or why no more is done to a region, with what it means.

Codes are stable: one that is here keeps its name and its meaning. The sentence that comes with one
(`RefusalError.reason`, `Reason.sentence`) says more, what and where in the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# What no transform can coarsen, in any form of output.
_KERNEL: Mapping[str, str] = {
    "barrier-in-divergent-region": "Work-items that take different ways would have to meet at a barrier.",
    "collective": "The kernel calls an operation of the whole work-group, a reduction for example.",
    "device-enqueue": "The kernel enqueues further kernels from the device.",
    "endless-loop": "A loop never ends, or work-items may part there and never meet again.",
    "indirect-call": "A function is called through a pointer, so what it does is not known.",
    "inline-assembly": "Inline assembly is not understood, so it can't be replicated.",
    "irreducible": "A loop is entered at more than one place.",
    "layout-atomic-width": "An atomic access is not to one field, so its bytes would part in another layout.",
    "layout-mixed-types": "An access is not to elements or their fields, so it has no place in another layout.",
    "layout-pointer-escapes": "An address is used for more than accesses, so not all of them can be rewritten.",
    "layout-same-buffer": "A buffer is passed twice, and for one of the arguments it is to lie otherwise.",
    "layout-shape-unknown": "The launch has to say how many elements an array has, and nothing tells.",
    "needs-whole-groups": "Sizes that don't divide were asked for, and it matters how work-items are grouped.",
    "pipe": "The kernel reads or writes a pipe.",
    "place-extent-unknown": "How many elements an array has is not known, so no copy of it can be made.",
    "place-footprint-unknown": "What a work-group reads of an array is not known to be a box.",
    "place-may-change": "It isn't known what the kernel writes: it may be the array that is to be placed.",
    "place-not-read-only": "An array that is to be placed is written, or is volatile.",
    "place-pointer-escapes": "An address is used for more than reads, so not all of them can be rewritten.",
    "place-too-large": "An array is too large for a copy in local memory, or too many are in constant memory.",
    "program-scope-variable": "A variable of the program keeps its value between kernels, or can't be declared.",
    "recursion": "A function calls itself.",
    "slow-to-compile": "The device's compiler would take minutes: too many ways that differ in barriers.",
    "sub-group": "The kernel uses operations of sub-groups, which coarsening would make smaller.",
    "too-deep": "Statements or expressions are nested too deeply.",
    "too-long": "The kernel with its helpers inlined has too many instructions.",
    "too-many-copies": "The coarsened kernel would have too many instructions.",
    "unsupported-call": "A function is called that is not known to be safe to replicate.",
    "unsupported-instruction": "LLVM's instruction is not supported, or has no form in OpenCL C.",
    "waits-for-another": "A loop waits for another work-item, which may be one that is merged with it.",
}

# What the kernel does has no faithful form in OpenCL C; another form of output may have one.
_OPENCL_C: Mapping[str, str] = {
    "atomic-ordering": "An atomic operation orders other accesses, which OpenCL C 1.2 can't say.",
    "constant-expression": "A constant can't be written as OpenCL C.",
    "integer-width": "OpenCL C has no integer of so many bits.",
    "unknown-function": "A called function is neither a builtin nor defined in the program.",
    "unsupported-type": "OpenCL C has no type for one of LLVM's.",
    "unsupported-value": "A value can't be written as OpenCL C.",
    "vector-length": "OpenCL C has no vector of so many elements.",
}

_OTHER_FORMS: Mapping[str, str] = {
    "ptx-unsupported": "A builtin or a type has no counterpart in PTX.",
    "spirv-unsupported": "LLVM's SPIR-V back end has no form for it.",
}

REFUSALS: Mapping[str, str] = MappingProxyType({**_KERNEL, **_OPENCL_C, **_OTHER_FORMS})

# Why what a loop accumulates stays in memory, though arguments point to distinct memory.
ACCUMULATOR_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "may-overlap": "Another access in the loop may be to the same memory.",
        "memory-ordered": "The loop has a barrier, an atomic or volatile access or a function that is not known.",
        "mixed-types": "It is accessed as more than one type, or is no number or vector.",
        "not-each-time": "The loop may be left without having stored to it, and a store must not be added.",
    }
)

# Why the replicas of a divergent region run one after the other.
REGION_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "agreement-unknown": "Nothing says that the merged work-items mostly take the same way.",
        "barrier-inside": "Work-items of one group could part where a barrier waits for all of them.",
        "behind-barrier": "PoCL gets slow loops and wide accesses wrong behind a barrier under a condition.",
        "effect-before-exit": "An iteration may have done something that can't be repeated when the loop is left.",
        "for-one-alone": "At most one of the merged work-items goes into the region: no others to run it with.",
        "mostly-copied": "Most of the region would be copied even where the merged work-items agree.",
        "too-little-shared": "On a CPU, lock-step of a loop in which replicas share little is slower than copies.",
        "too-short": "The region is so short that a test for agreement would cost more than it saves.",
        "turned-off": "The transform was turned off.",
        "unstructured": "The ways through the region, or the values out of it, can't be told apart.",
    }
)
