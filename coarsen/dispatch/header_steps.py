"""C functions of the launches of versions that take several.

struct mv_sequence sequence;
if (launch.dimensions == 0 && mv_steps(version, &in, &sequence))
    …                       /* make sequence.scratch_bytes, launch sequence.step[0] to [sequence.steps - 1] */
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from coarsen.dispatch.c_text import declarations, statements
from coarsen.dispatch.header_sizes import indented, size_statements
from coarsen.dispatch.launch_sequence import NUMBER_RANGES, PassedArgument, Source, passed_arguments
from coarsen.dispatch.launch_sizes import launch_formulas, scratch_formulas
from coarsen.dispatch.steps import LARGEST, SMALLEST
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion

SOURCES = """\
#ifndef COARSEN_STEPS
#define COARSEN_STEPS
/* Where an argument of a launch among several comes from. */
enum {
    coarsen_of_caller, /* the caller's argument of this index */
    coarsen_of_scratch, /* the scratch buffer of this index */
    coarsen_number /* `bytes` bytes at `number` */
};

struct coarsen_argument {
    int from;
    unsigned index;
    size_t bytes;
    union { int32_t as_int; uint32_t as_uint; int64_t as_long; uint64_t as_ulong; } number;
};
#endif
"""
_FROM = {
    Source.CALLER: "coarsen_of_caller",
    Source.SCRATCH: "coarsen_of_scratch",
    Source.NUMBER: "coarsen_number",
}
_BYTES = {"int": 4, "uint": 4, "long": 8, "ulong": 8}
_C_TYPES = {"int": "int32_t", "uint": "uint32_t", "long": "int64_t", "ulong": "uint64_t"}


def step_functions(file: TunedFile) -> Iterator[str]:
    """Enumerate the types and functions of a file's versions of several launches; none where it has none."""
    numbers = [number for number, version in enumerate(file.versions) if version.is_sequence]
    if not numbers:
        return
    versions = [file.versions[number] for number in numbers]
    yield SOURCES
    yield _types(file, versions)
    for number in numbers:
        yield _steps(file, number)
    cases = "\n".join(
        f"    case {number}: return {file.kernel}_steps_{number}(in, sequence);" for number in numbers
    )
    yield f"""\
/* The launches of a version that takes several, one after the other; 0 where it takes one, or its sizes have no
 * value. */
static inline int
{file.kernel}_steps(int version, const struct {file.kernel}_inputs *in, struct {file.kernel}_sequence *sequence)
{{
    switch (version) {{
{cases}
    }}
    return 0;
}}
"""


def _types(file: TunedFile, versions: list[TunedVersion]) -> str:
    launches = [launch for version in versions for launch in version.launches]
    most_arguments = max(1, *(len(launch.arguments or file.arguments) for launch in launches))
    most_scratch = max(1, *(len(version.scratch) for version in versions))
    return (
        f"struct {file.kernel}_step {{\n"
        "    const char *kernel;\n"
        f"    struct {file.kernel}_launch launch;\n"
        "    unsigned arguments;\n"
        f"    struct coarsen_argument argument[{most_arguments}];\n}};\n\n"
        f"struct {file.kernel}_sequence {{\n"
        "    unsigned steps;\n"
        f"    struct {file.kernel}_step step[{max(len(version.launches) for version in versions)}];\n"
        "    unsigned scratch;\n"
        f"    size_t scratch_bytes[{most_scratch}];\n}};\n"
    )


def _steps(file: TunedFile, number: int) -> str:
    version, name = file.versions[number], file.kernel
    launches = [launch_formulas(version, launch, file.arguments) for launch in version.launches]
    scratch = scratch_formulas(version, file.arguments)
    formulas = [step for each in launches for step in (*each.sizes, *each.numbers)] + [*scratch]
    computing, results = statements(formulas, "return 0;")
    lines = [*declarations(formulas), f"struct {name}_launch *launch;", "(void)in;", *computing]
    rest = iter(results)
    for place, (launch, own) in enumerate(zip(version.launches, launches, strict=True)):
        sizes, numbers = list(islice(rest, len(own.sizes))), list(islice(rest, len(own.numbers)))
        lines += (f"launch = &sequence->step[{place}].launch;", *size_statements(file, own, sizes))
        passed = passed_arguments(version, launch, file.arguments)
        lines += _step(f"sequence->step[{place}]", launch.kernel, passed, numbers)
    lines.append(f"sequence->steps = {len(launches)};")
    lines.append(f"sequence->scratch = {len(scratch)};")
    for index, value in enumerate(rest):
        lines += (f"if ({value} <= 0 || (uint64_t){value} > SIZE_MAX)", "    return 0;")
        lines.append(f"sequence->scratch_bytes[{index}] = (size_t){value};")
    lines.append("return 1;")
    return (
        f"static inline int {name}_steps_{number}(const struct {name}_inputs *in, "
        f"struct {name}_sequence *sequence)\n{{\n{indented(lines)}}}\n"
    )


def _step(step: str, kernel: str, passed: Sequence[PassedArgument], numbers: Sequence[str]) -> Iterator[str]:
    """The statements of a launch's kernel and arguments."""
    yield f'{step}.kernel = "{kernel}";'
    yield f"{step}.arguments = {len(passed)};"
    for place, argument in enumerate(passed):
        target = f"{step}.argument[{place}]"
        is_number = argument.source is Source.NUMBER
        yield f"{target}.from = {_FROM[argument.source]};"
        yield f"{target}.index = {argument.index};"
        yield f"{target}.bytes = {_BYTES[argument.type] if is_number else 0};"
        if is_number:
            yield from _number(target, argument.type, numbers[argument.index])


def _number(target: str, kind: str, value: str) -> Iterator[str]:
    known = NUMBER_RANGES[kind]
    limits = []
    if known.start > SMALLEST:
        limits.append(f"{value} < {'0' if known.start == 0 else 'INT32_MIN'}")
    if known.stop <= LARGEST:
        limits.append(f"{value} > {'UINT32_MAX' if known.start == 0 else 'INT32_MAX'}")
    if limits:
        yield f"if ({' || '.join(limits)})"
        yield "    return 0;"
    yield f"{target}.number.as_{kind} = ({_C_TYPES[kind]}){value};"
