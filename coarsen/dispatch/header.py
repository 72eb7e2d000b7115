"""A tuned file as a C99 header: the same choices, and the sizes of the launch that was chosen.

struct mv_inputs in = { .width = 4096, .height = 64 };
struct mv_launch launch;
int version = mv_choose(&in, &launch);      /* which of the versions' programs to launch, with which sizes */
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from coarsen.dispatch.c_text import ARITHMETIC, TYPES, declarations, function, indented, statements, tree_lines
from coarsen.dispatch.features import SIZE_NAMES, feature_steps, input_kinds, needed_kinds
from coarsen.dispatch.launch_sizes import (
    NUMBER_RANGES,
    LaunchFormulas,
    launch_formulas,
    loop_formulas,
    passed_arguments,
    scratch_formulas,
)
from coarsen.dispatch.loops import MOST_LAUNCHES
from coarsen.dispatch.steps import LARGEST, SMALLEST, Kind
from coarsen.dispatch.tree import features_of
from coarsen.dispatch.tuned_file import TunedFile, check_launchable
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import PassedArgument, Source

# Of C and C++.
_KEYWORDS = (
    "asm auto bool break case catch char class const continue default delete do double else enum extern false "
    "float for friend goto if inline int long namespace new operator private protected public register restrict "
    "return short signed sizeof static struct switch template this throw true try typedef typename union unsigned "
    "using virtual void volatile while"
)
_DIMENSIONS = 3
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
_FROM = {Source.CALLER: "coarsen_of_caller", Source.SCRATCH: "coarsen_of_scratch", Source.NUMBER: "coarsen_number"}
_BYTES = {"int": 4, "uint": 4, "long": 8, "ulong": 8}
_C_TYPES = {"int": "int32_t", "uint": "uint32_t", "long": "int64_t", "ulong": "uint64_t"}


def c_header(file: TunedFile) -> str:
    """Return the text of the header.

    Raises:
        InvalidInputError: a version that is guarded, has wide accesses, or is coarsened and leaves its local size
            to the driver; a name that C has for itself.
    """
    _check(file)
    name = file.kernel
    guard = f"COARSEN_CHOOSE_{name}"
    kinds = _inputs(file)
    parts = [
        f"/* Chooses among the versions of the kernel {name}; made by coarsen "
        f"{comment_text(file.coarsen_version)} from a tuned file.\n"
        f" * Tuned on {comment_text(file.device)}, driver {comment_text(file.driver)}. */",
        f"#ifndef {guard}\n#define {guard}",
        ARITHMETIC,
        _types(file, kinds),
        _tree(file),
        *step_functions(file),
        *(sizes_function(file, version) for version in range(len(file.versions))),
        _choose(file),
        "#endif\n",
    ]
    return "\n".join(parts)


def _check(file: TunedFile) -> None:
    check_launchable(file.versions)
    for number, version in enumerate(file.versions):
        if version.variant.any_size or version.variant.transforms.assuming:
            raise InvalidInputError(
                f"version {number} is guarded, has wide accesses or tiles, or takes arguments as distinct, which "
                "the C header can't check (coarsen tune --space distinct=no finds versions without the last)"
            )
        others = [launch.kernel for launch in version.launches if launch.kernel != file.kernel]
        if others and not version.is_sequence:
            raise InvalidInputError(
                f"version {number} launches {others[0]} in place of {file.kernel}, which the C header can't say"
            )
        merged = [launch for launch in version.launches if launch.coarsened or not version.is_sequence]
        has_sizes = bool(merged) and all(launch.local_size for launch in merged)
        if version.variant.is_coarsened and not version.variant.local_size and not has_sizes:
            raise InvalidInputError(f"version {number} is coarsened and has no local size, which C needs")
    taken = sorted({*_KEYWORDS.split()} & {*_inputs(file), file.kernel})
    if taken:
        raise InvalidInputError(f"the C header can't have the name {taken[0]}, which is C's own")


def _inputs(file: TunedFile) -> Mapping[str, Kind]:
    """The numbers that the header's functions take, in order, each with its kind."""
    expressions = (each for version in file.versions for each in version.expressions())
    needed = {name for each in expressions for name in each.names} | set(() if file.has_sizes else SIZE_NAMES)
    return needed_kinds(file.features, input_kinds(file.arguments), needed)


def _types(file: TunedFile, kinds: Mapping[str, Kind]) -> str:
    name = file.kernel
    members = [f"{TYPES[kind]} {entry};" for entry, kind in kinds.items()] or ["int unused;"]
    sizes = ["unsigned dimensions;", "size_t global_size[3];", "size_t local_size[3];"]
    comment = "Sizes in work-items, as clEnqueueNDRangeKernel takes them; a local size of 0 stands for NULL."
    if any(version.is_sequence for version in file.versions):
        comment += f"\n * No dimensions: the version takes several launches, which {name}_steps has."
    if has_local_memory(file):
        comment += "\n * Bytes of local memory by the index of the caller's argument; 0: as the caller has it."
        sizes.append(f"size_t local_memory[{len(file.arguments)}];")
    return (
        "/* What the launch passes: arguments and bytes of buffers. */\n"
        f"struct {name}_inputs {{\n{indented(members)}}};\n\n"
        f"/* {comment} */\nstruct {name}_launch {{\n{indented(sizes)}}};\n"
    )


def _tree(file: TunedFile) -> str:
    """The function that answers the tree; the default version where a feature has no value."""
    kinds = input_kinds(file.arguments)
    asked = [feature for feature in file.features if feature.name in features_of(file.tree)]
    formulas = [feature_steps(feature, kinds) for feature in asked]
    lines, results = statements(formulas, f"return {file.default};")
    places = {feature.name: f"f{number}" for number, feature in enumerate(asked)}
    values = [
        f"const double {place} = {result}; /* {feature.name} */"
        for (place, result), feature in zip(zip(places.values(), results, strict=True), asked, strict=True)
    ]
    body = indented([*declarations(formulas), "(void)in;", *lines])
    compared = list(tree_lines(file.tree, places, "        "))
    return (
        f"static inline int {file.kernel}_version(const struct {file.kernel}_inputs *in)\n{{\n{body}    {{\n"
        + "".join(f"        {value}\n" for value in values)
        + "\n".join(compared)
        + "\n    }\n}\n"
    )


def _choose(file: TunedFile) -> str:
    name = file.kernel
    numbers = range(len(file.versions))
    cases = "\n".join(f"    case {number}: return {name}_sizes_{number}(in, launch);" for number in numbers)
    return f"""\
static inline int {name}_sizes(int version, const struct {name}_inputs *in, struct {name}_launch *launch)
{{
    switch (version) {{
{cases}
    }}
    return 0;
}}

enum {{ {name}_default = {file.default}, {name}_versions = {len(file.versions)} }};

/* The version to launch, and its sizes; the default version where those of the chosen one have no value or don't
 * divide. -1 where the default version's have none either. */
static inline int {name}_choose(const struct {name}_inputs *in, struct {name}_launch *launch)
{{
    const int version = {name}_version(in);
    if ({name}_sizes(version, in, launch))
        return version;
    return {name}_sizes({name}_default, in, launch) ? {name}_default : -1;
}}
"""


def comment_text(text: str, limit: int = 200) -> str:
    """Return the first letters of a text, without those that could end the comment it stands in."""
    return "".join(letter if letter.isprintable() and letter not in "*\\" else " " for letter in text)[:limit]


def sizes_function(file: TunedFile, number: int) -> str:
    """Return the function of a version's sizes; it returns 0 where they have no value or don't divide.

    That of a version of several launches says that there is no one launch.
    """
    version, name = file.versions[number], file.kernel
    if version.is_sequence:
        lines = [
            f"struct {name}_sequence sequence;",
            "launch->dimensions = 0;",
            f"return {name}_steps_{number}(in, &sequence);",
        ]
        return _sizes(name, number, lines)
    if not version.launches:
        return _sizes(name, number, ["(void)in;", *_callers_sizes(version), *_merging(version)])
    formulas = launch_formulas(version, version.launches[0], file.arguments)
    lines, results = statements(formulas.sizes, "return 0;")
    sizes = size_statements(file, formulas, results)
    opening = [*declarations(formulas.sizes), "(void)in;"]
    return _sizes(name, number, [*opening, *lines, *sizes, *_merging(version)])


def size_statements(file: TunedFile, formulas: LaunchFormulas, results: Sequence[str]) -> Iterator[str]:
    """Enumerate the statements that give `launch` its sizes.

    Args:
        file: the tuned file.
        formulas: of the launch.
        results: the values of `formulas.sizes` in C.
    """
    dimensions, first_memory = len(formulas.global_size), len(formulas.global_size) + len(formulas.local_size)
    yield f"launch->dimensions = {dimensions};"
    for entry in range(dimensions):
        local = results[dimensions + entry] if formulas.local_size else None
        yield from _one_size(entry, results[entry], local)
    if has_local_memory(file):
        for place in range(len(file.arguments)):
            yield f"launch->local_memory[{place}] = 0;"
    for place, value in zip(formulas.memory_places, results[first_memory:], strict=True):
        yield f"if ({value} <= 0 || (uint64_t){value} > SIZE_MAX)"
        yield "    return 0;"
        yield f"launch->local_memory[{place}] = (size_t){value};"


def has_local_memory(file: TunedFile) -> bool:
    """Return True if a launch of the file has local memory of another size than the caller's."""
    return any(launch.local_memory for version in file.versions for launch in version.launches)


def _sizes(name: str, number: int, lines: Iterable[str]) -> str:
    return function(
        f"int {name}_sizes_{number}(const struct {name}_inputs *in, struct {name}_launch *launch)", lines
    )


def _callers_sizes(version: TunedVersion) -> Iterator[str]:
    """The statements of a version that has the caller's sizes, and maybe a local size of its own."""
    own = version.variant.local_size
    yield f"launch->dimensions = {_DIMENSIONS};"
    for entry in range(_DIMENSIONS):
        whole, local = f"in->global_size_{entry}", f"in->local_size_{entry}"
        if own:
            yield from _one_size(entry, whole, str((*own, *[1] * (_DIMENSIONS - len(own)))[entry]))
        else:
            yield f"if ({local} < 0 || (uint64_t){local} > SIZE_MAX)"
            yield "    return 0;"
            yield from _one_size(entry, whole, None)
            yield f"launch->local_size[{entry}] = (size_t){local};"


def _one_size(dimension: int, whole: str, local: str | None) -> Iterator[str]:
    """The statements of one dimension; a local size of None is the driver's."""
    for value in (whole, *([] if local is None else [local])):
        yield f"if ({value} <= 0 || (uint64_t){value} > SIZE_MAX)"
        yield "    return 0;"
    yield f"launch->global_size[{dimension}] = (size_t){whole};"
    yield f"launch->local_size[{dimension}] = {0 if local is None else f'(size_t){local}'};"


def _merging(version: TunedVersion) -> Iterator[str]:
    for coarsening in version.variant.coarsenings:
        yield from _merged(coarsening)
    yield "return 1;"


def _merged(coarsening: Coarsening) -> Iterator[str]:
    factor, dimension, stride = coarsening.factor, coarsening.dimension, coarsening.stride
    whole, local = f"launch->global_size[{dimension}]", f"launch->local_size[{dimension}]"
    yield f"if ({dimension} >= launch->dimensions || {local} == 0 || {whole} % {local} != 0)"
    yield "    return 0;"
    if coarsening.level is Level.GROUP:
        yield f"if ({whole} / {local} % {factor} != 0)"
        yield "    return 0;"
    else:
        yield f"if ({local} % {factor} != 0 || {local} / {factor} % {stride} != 0)"
        yield "    return 0;"
        yield f"{local} /= {factor};"
    yield f"{whole} /= {factor};"


def step_functions(file: TunedFile) -> Iterator[str]:
    """Enumerate the types and functions of a file's versions of several launches; none where it has none."""
    numbers = [number for number, version in enumerate(file.versions) if version.is_sequence]
    if not numbers:
        return
    versions = [file.versions[number] for number in numbers]
    yield SOURCES
    yield _sequence_types(file, versions)
    for number in numbers:
        yield from _launch_functions(file, number)
        yield _step_of(file, number)
        yield _steps(file, number)
    name = file.kernel
    cases = "\n".join(f"    case {number}: return {name}_steps_{number}(in, sequence);" for number in numbers)
    places = "\n".join(
        f"    case {number}: place = {name}_place_{number}(in, number, sequence); break;" for number in numbers
    )
    yield f"""\
/* The launches of a version that takes several, one after the other; 0 where it takes one, or its sizes have no
 * value. */
static inline int
{name}_steps(int version, const struct {name}_inputs *in, struct {name}_sequence *sequence)
{{
    switch (version) {{
{cases}
    }}
    return 0;
}}

/* The launch of a number below sequence->launches, once {name}_steps has said how many there are; it holds until
 * the next call. NULL for another number. */
static inline const struct {name}_step *
{name}_step_at(int version, const struct {name}_inputs *in, uint64_t number, struct {name}_sequence *sequence)
{{
    int place = -1;
    switch (version) {{
{places}
    }}
    return place < 0 ? NULL : &sequence->step[place];
}}
"""


def _sequence_types(file: TunedFile, versions: list[TunedVersion]) -> str:
    launches = [launch for version in versions for launch in version.launches]
    most_arguments = max(1, *(len(launch.arguments or file.arguments) for launch in launches))
    most_scratch = max(1, *(len(version.scratch) for version in versions))
    most_loops = max(len(version.runs) for version in versions)
    return (
        f"struct {file.kernel}_step {{\n"
        "    const char *kernel;\n"
        "    int coarsened; /* 1: of a program of its own, with sizes that are divided already */\n"
        f"    struct {file.kernel}_launch launch;\n"
        "    unsigned arguments;\n"
        f"    struct coarsen_argument argument[{most_arguments}];\n}};\n\n"
        "/* `launches` counts those in loops as often as they run; `step` has them once each, in their first\n"
        f" * turn or in that of the last {file.kernel}_step_at. */\n"
        f"struct {file.kernel}_sequence {{\n"
        "    unsigned steps;\n"
        f"    struct {file.kernel}_step step[{max(len(version.launches) for version in versions)}];\n"
        "    unsigned scratch;\n"
        f"    size_t scratch_bytes[{most_scratch}];\n"
        "    uint64_t launches;\n"
        f"    int64_t first[{most_loops}];\n"
        f"    uint64_t times[{most_loops}];\n}};\n"
    )


# The number of a loop's turn, whatever the tuned file calls it.
_TURN = "turn"


def _launch_functions(file: TunedFile, number: int) -> Iterator[str]:
    """The functions of a version's launches: kernel, sizes and arguments in a turn of the loop around it."""
    version, name = file.versions[number], file.kernel
    for place, launch in enumerate(version.launches):
        own = launch_formulas(version, launch, file.arguments)
        formulas = (*own.sizes, *own.numbers)
        variables = {} if launch.loop is None else {launch.loop.name: _TURN}
        computing, results = statements(formulas, "return 0;", variables)
        sizes, numbers = results[: len(own.sizes)], results[len(own.sizes) :]
        passed = passed_arguments(version, launch, file.arguments)
        lines = [
            *declarations(formulas),
            f"struct {name}_launch *launch = &step->launch;",
            "(void)in;",
            f"(void){_TURN};",
            *computing,
            *size_statements(file, own, sizes),
            *(line for each in version.variant_of(launch, file.kernel).coarsenings for line in _merged(each)),
            f"step->coarsened = {int(launch.coarsened)};",
            *_step("(*step)", launch.kernel, passed, numbers),
            "return 1;",
        ]
        taking = f"const struct {name}_inputs *in, int64_t {_TURN}, struct {name}_step *step"
        yield function(f"int {name}_step_{number}_{place}({taking})", lines)


def _step_of(file: TunedFile, number: int) -> str:
    """The function that fills in the launch of a number, and returns its place among those of the version."""
    version, name = file.versions[number], file.kernel
    lines = []
    for run, (_, places) in enumerate(version.runs):
        count = len(places)
        lines += [f"if (number < sequence->times[{run}] * {count}) {{"]
        lines += [f"    const int64_t {_TURN} = sequence->first[{run}] + (int64_t)(number / {count});"]
        lines += [f"    switch (number % {count}) {{"]
        for index, place in enumerate(places):
            filled = f"{name}_step_{number}_{place}(in, {_TURN}, &sequence->step[{place}])"
            lines.append(f"    case {index}: return {filled} ? {place} : -1;")
        lines += ["    }", "}", f"number -= sequence->times[{run}] * {count};"]
    taking = f"const struct {name}_inputs *in, uint64_t number, struct {name}_sequence *sequence"
    return function(f"int {name}_place_{number}({taking})", [*lines, "return -1;"])


def _steps(file: TunedFile, number: int) -> str:
    version, name = file.versions[number], file.kernel
    loops = [() if loop is None else loop_formulas(version, loop, file.arguments) for loop, _ in version.runs]
    scratch = scratch_formulas(version, file.arguments)
    formulas = [*(step for each in loops for step in each), *scratch]
    computing, results = statements(formulas, "return 0;")
    lines = [*declarations(formulas), "uint64_t number;", "(void)in;", *computing, "sequence->launches = 0;"]
    rest = iter(results)
    for run, ((_, places), bounds) in enumerate(zip(version.runs, loops, strict=True)):
        first, last = islice(rest, 2) if bounds else ("0", "1")
        lines.append(f"sequence->first[{run}] = {first};")
        lines.append(f"sequence->times[{run}] = {last} > {first} ? (uint64_t){last} - (uint64_t){first} : 0;")
        lines += (f"if (sequence->times[{run}] > {MOST_LAUNCHES})", "    return 0;")
        lines.append(f"sequence->launches += sequence->times[{run}] * {len(places)};")
    lines += (f"if (sequence->launches > {MOST_LAUNCHES})", "    return 0;")
    lines.append(f"sequence->steps = {len(version.launches)};")
    lines.append(f"sequence->scratch = {len(scratch)};")
    for index, value in enumerate(rest):
        lines += (f"if ({value} <= 0 || (uint64_t){value} > SIZE_MAX)", "    return 0;")
        lines.append(f"sequence->scratch_bytes[{index}] = (size_t){value};")
    # Backwards, so that each is left as it is in its first turn.
    lines.append("for (number = sequence->launches; number > 0; number--)")
    lines += (f"    if ({name}_place_{number}(in, number - 1, sequence) < 0)", "        return 0;", "return 1;")
    taking = f"const struct {name}_inputs *in, struct {name}_sequence *sequence"
    return function(f"int {name}_steps_{number}({taking})", lines)


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
