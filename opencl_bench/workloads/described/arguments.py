"""Reads one entry of a benchmark file's `arguments`: a buffer, a scalar, local memory; an image or a sampler."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    ImageDescription,
    LocalDescription,
    NullDescription,
    SamplerDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.distributions import OF_ALL, Filling, alike, read_record_values
from coarsen.opencl_bench.workloads.described.ndrange import Quotient, parse_quotient
from coarsen.opencl_bench.workloads.described.table import Table, is_number
from coarsen.opencl_bench.workloads.described.values import FileValues, parse_values
from coarsen.tuning.workload.element_types import (
    CHANNEL_TYPES,
    CHANNELS,
    LARGEST_STRUCTURE,
    OPAQUE,
    SCALAR_NAMES,
    Addressing,
    ElementType,
    Filter,
    ImageFormat,
    SamplerArgument,
    Structure,
    StructureField,
    element_type,
    opaque_type,
    structure_type,
)
from coarsen.tuning.workload.element_types import KINDS as IMAGE_KINDS
from coarsen.variant.data_layout import ArrayLayout, Order
from coarsen.variant.pads import Pad, PadKind
from coarsen.variant.placement import parse_place
from coarsen.variant.space import ArrayChoices

KINDS = ("buffer", "scalar", "local", "image", "sampler")
# Of a buffer: NumPy's arrays have no more.
_MOST_EXTENTS = 32
# The types of structures, by their names.
Types = Mapping[str, ElementType]


def read_argument(table: Table, outputs: tuple[str, ...], structures: Types) -> ArgumentDescription:
    """The argument that a table describes.

    Args:
        table: has the argument's name, and its type as the value of one of `KINDS`.
        outputs: names of the buffers and images that need no contents before the launch.
        structures: what `[structures]` names.

    Raises:
        InvalidInputError: a mistake in it.
    """
    kinds = [kind for kind in KINDS if table.has(kind)]
    if len(kinds) != 1:
        raise table.error("", f'it must have one of {", ".join(KINDS)}, with a type: buffer = "float"')
    match kinds[0]:
        case "buffer":
            return _buffer(table, outputs, structures)
        case "scalar":
            return _scalar(table, structures)
        case "local":
            return _local(table, structures)
        case "image":
            return _image(table, outputs)
    return _sampler(table)


def _buffer(table: Table, outputs: tuple[str, ...], structures: Types) -> ArgumentDescription:
    table.check_names(
        *("name", "buffer", "element_bytes", "elements", "shape", "values", "same_as", "null", "scratch"),
        *("layouts", "orders", "places"),
    )
    name = table.text("name")
    kind = _type(table, "buffer", structures)
    if table.has("same_as"):
        _check_lacks(table, "elements", "shape", "values", "null", "scratch", "layouts", "orders", "places")
        return SharedDescription(name, kind, table.text("same_as"))
    if table.has("null"):
        _check_lacks(table, "elements", "shape", "values", "scratch", "layouts", "orders", "places")
        if table.values["null"] is not True:
            raise table.error("null", "it must be true; leave it out where there is a buffer")
        return NullDescription(name, kind)
    is_scratch = _is_scratch(table)
    shape = _shape(table)
    # Of several extents the elements are the product.
    elements = parse_expression(" * ".join(f"({extent.text})" for extent in shape)) if shape else None
    return BufferDescription(
        name,
        kind,
        elements or table.parse("elements", parse_expression),
        _values(table, kind, "unwritten" if name in outputs or is_scratch else None),
        is_scratch,
        shape,
        _arrays(table, kind, shape),
    )


def _arrays(table: Table, kind: ElementType, shape: Sequence[Expression]) -> ArrayChoices | None:
    """Return how a buffer may lie, or be read, beside as written; None where the file doesn't say."""
    if not any(map(table.has, ("layouts", "orders", "places"))):
        return None
    dimensions = max(len(shape), 1)
    places = table.parse_texts("places", parse_place)
    layouts = table.parse_texts("layouts", ArrayLayout.parse)
    orders = table.parse_texts("orders", Order.parse)
    if layouts and kind.structure is None:
        raise table.error(
            "layouts", f"{kind.name} has no fields to lie apart: describe a structure ([structures])"
        )
    if any(len(order.permutation) != dimensions for order in orders):
        raise table.error("orders", f"an order names each of the {dimensions} extents of shape once")
    return ArrayChoices(table.text("name"), layouts, orders, (), places, _known(table, shape))


def _known(table: Table, shape: Sequence[Expression]) -> tuple[int, ...] | None:
    """The extents of a buffer where they are numbers, the same at all presets."""
    extents = shape or (table.parse("elements", parse_expression),)
    if any(extent.names for extent in extents):
        return None
    return tuple(int(extent.evaluate({})) for extent in extents)


def read_pads(top: Table) -> tuple[ArrayChoices, ...]:
    """Return the pads to try of static local arrays, `[pads]` of a file: `tile = ["1", "xor"]`.

    Raises:
        InvalidInputError: a pad that can't be, or is left to a device.
    """
    table = top.table("pads")
    found = []
    for name in table.values:
        pads = table.parse_texts(name, Pad.parse)
        if any(pad.kind is PadKind.AUTO for pad in pads):
            raise table.error(name, "auto is for `coarsen apply`: name the pads to try")
        found.append(ArrayChoices(name, pads=pads))
    return tuple(found)


def _shape(table: Table) -> tuple[Expression, ...]:
    """The extents of a buffer that has several, the slowest first; none where it has `elements`."""
    if not table.has("shape"):
        return ()
    if table.has("elements"):
        raise table.error("elements", "it follows from shape; leave out one of them")
    return table.expressions("shape", 1, _MOST_EXTENTS, "extents")


def _values(table: Table, kind: ElementType, default: str | None) -> Filling:
    """Return what is in a buffer: of a structure, a table of its fields, what they have alike, or a file."""
    parser = partial(parse_values, folder=table.path.parent)
    if kind.structure is None:
        return table.parse("values", parser, default)
    given = table.required("values") if default is None else table.values.get("values", default)
    if isinstance(given, dict):
        return read_record_values(table.table("values"), kind.structure)
    if isinstance(given, str) and given.strip() in OF_ALL:
        return alike(kind.structure, given.strip())
    found = table.parse("values", parser) if isinstance(given, str) and given.startswith("file") else None
    if not isinstance(found, FileValues):
        raise table.error(
            "values",
            f"{kind.name} is a structure: a table of its fields, {{ {kind.structure.fields[0].name} = "
            f'"zeros", … }}, {" or ".join(OF_ALL)}, or a file',
        )
    return found


def _is_scratch(table: Table) -> bool:
    if not table.has("scratch"):
        return False
    if table.values["scratch"] is not True:
        raise table.error("scratch", "it must be true; leave it out of a buffer whose contents count")
    if table.has("values"):
        raise table.error("values", "scratch has none before a launch; leave it out")
    return True


def _check_lacks(table: Table, *keys: str) -> None:
    for key in keys:
        if table.has(key):
            raise table.error(key, "an argument with same_as or null has no memory of its own; leave it out")


def _type(table: Table, key: str, structures: Types) -> ElementType:
    """The type of an argument; `bytes` has as many as `element_bytes` says, one if it isn't there."""
    if table.values[key] != OPAQUE:
        if table.has("element_bytes"):
            raise table.error("element_bytes", f'it goes with {key} = "{OPAQUE}" alone')
        name = table.values[key]
        if isinstance(name, str) and name in structures:
            return structures[name]
        if isinstance(name, str) and (hint := did_you_mean(name, structures)):
            raise table.error(key, f"'{name}' is no type{hint}; there are {', '.join(structures)}: [structures]")
        return table.parse(key, element_type)
    count = table.values.get("element_bytes", 1)
    if type(count) is not int or not 1 <= count <= LARGEST_STRUCTURE:
        raise table.error(
            "element_bytes", f"it must be a whole number from 1 to {LARGEST_STRUCTURE}, not {count!r}"
        )
    return opaque_type(count)


def _scalar(table: Table, structures: Types) -> ArgumentDescription:
    table.check_names("name", "scalar", "value")
    if isinstance(table.values["scalar"], str) and table.values["scalar"] in structures:
        raise table.error("scalar", f'a structure that is passed by value is "{OPAQUE}", its value hexadecimal')
    if table.values["scalar"] == OPAQUE:
        content = _bytes(table)
        return ScalarDescription(table.text("name"), opaque_type(len(content)), tuple(content))
    kind = table.parse("scalar", element_type)
    given = table.required("value")
    components = given if isinstance(given, list) else [given]
    if len(components) != kind.components:
        raise table.error("value", f"{kind.name} has {kind.components} components, not {len(components)}")
    return ScalarDescription(
        table.text("name"), kind, tuple(_component(table, kind, entry) for entry in components)
    )


def _bytes(table: Table) -> bytes:
    try:
        content = bytes.fromhex(table.text("value"))
    except ValueError:
        content = b""
    if not content:
        raise table.error(
            "value", 'it must be the bytes in hexadecimal digits, in the order of memory: "0100 ff07"'
        )
    return content


def _component(table: Table, kind: ElementType, value: object) -> Expression | Quotient | float:
    if isinstance(value, str):
        return table.parse_text("value", parse_expression if kind.is_integer else parse_quotient, value)
    if not is_number(value):
        raise table.error("value", f"it must be a number or an expression, not {value!r}")
    return value


def _local(table: Table, structures: Types) -> ArgumentDescription:
    table.check_names("name", "local", "element_bytes", "elements", "bytes")
    if table.has("elements") == table.has("bytes"):
        raise table.error("", "it must have either elements or bytes")
    in_bytes = table.has("bytes")
    count = table.parse("bytes" if in_bytes else "elements", parse_expression)
    return LocalDescription(table.text("name"), _type(table, "local", structures), count, in_bytes)


def _image(table: Table, outputs: Collection[str]) -> ImageDescription:
    """Read an image. Raises InvalidInputError for a mistake in it."""
    table.check_names("name", "image", "extent", "channels", "format", "values")
    name = table.text("name")
    kind = table.choice("image", IMAGE_KINDS)
    image_format = ImageFormat(kind, table.choice("channels", CHANNELS), table.choice("format", CHANNEL_TYPES))
    extents = table.expressions("extent", IMAGE_KINDS[kind], IMAGE_KINDS[kind], f"extents of {kind}")
    default = "unwritten" if name in outputs else None
    values = table.parse("values", partial(parse_values, folder=table.path.parent), default)
    return ImageDescription(name, image_format, extents, values)


def _sampler(table: Table) -> SamplerDescription:
    """Read a sampler. Raises InvalidInputError for a mistake in it."""
    table.check_names("name", "sampler", "filter", "normalized")
    addressing = table.choice("sampler", dict.fromkeys(Addressing))
    chosen = table.choice("filter", dict.fromkeys(Filter)) if table.has("filter") else Filter.NEAREST
    normalized = table.values.get("normalized", False)
    if not isinstance(normalized, bool):
        raise table.error("normalized", f"it must be true or false, not {normalized!r}")
    sampler = SamplerArgument(Addressing(addressing), Filter(chosen), normalized)
    return SamplerDescription(table.text("name"), sampler)


# The structures that a description declares.

_ARRAY = re.compile(r"(\w+)\s*\[\s*([0-9]{1,7})\s*\]", re.ASCII)


def read_structures(top: Table) -> dict[str, ElementType]:
    """Return the types that a file names, by their names; none where it names none.

    Args:
        top: the file's outermost table.

    Raises:
        InvalidInputError: a structure that is none, with its key.
    """
    structures = top.table("structures")
    return {name: _structure(structures, name) for name in structures.values}


def _structure(structures: Table, name: str) -> ElementType:
    if not name.isidentifier():
        raise structures.error(name, "a structure's name has letters, digits and _ only")
    if name == OPAQUE or name.rstrip("0123456789") in SCALAR_NAMES:
        raise structures.error(name, "that is a type of OpenCL C or of descriptions; choose another name")
    table = structures.table(name)
    if not table.values:
        raise structures.error(name, 'it must have fields, in their order: x = "float"')
    kind = structure_type(Structure(name, tuple(_structure_field(table, field) for field in table.values)))
    if kind.byte_count > LARGEST_STRUCTURE:
        raise structures.error(name, f"it has {kind.byte_count} bytes; {LARGEST_STRUCTURE} are the most")
    return kind


def _structure_field(table: Table, name: str) -> StructureField:
    if not name.isidentifier():
        raise table.error(name, "a field's name has letters, digits and _ only")
    text = table.text(name).strip()
    array = _ARRAY.fullmatch(text)
    if text == OPAQUE:
        raise table.error(name, 'bytes of a field are "uchar[8]"')
    kind = table.parse_text(name, element_type, array[1] if array else text)
    count = int(array[2]) if array else None
    if count == 0:
        raise table.error(name, "an array must have at least one element")
    if count is not None and kind.components == 3:
        raise table.error(name, f"{text} can't be described; an element of it lies like {kind.scalar_name}4")
    return StructureField(name, kind, count)
