"""A kernel and its coarsened form, written by hand, so that the runtime is tested without the compiler.

`record` stores, for each original work-item, its value and the factor of the variant that computed it: what a
launch really ran can be read off its result; with wide accesses, it is 100 more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from coarsen.errors import RefusalError
from coarsen.runtime.toolchain import Code, Form, Toolchain
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

SOURCE = """
#ifndef SCALE
#define SCALE 1
#endif
kernel void record(global const int *input, global int *output, global int *merged, int addend)
{
    size_t item = get_global_id(0);
    output[item] = SCALE * input[item] + addend;
    merged[item] = 1;
}
kernel void refused(global int *output)
{
    output[get_global_id(0)] = 7;
}
"""

COARSENED = """
kernel ATTRIBUTE void record(global const int *input, global int *output, global int *merged, int addend)
{
    size_t local_item = get_local_id(0);
    size_t group = get_group_id(0) * get_local_size(0) * FACTOR + get_global_offset(0);
    for (size_t replica = 0; replica < FACTOR; ++replica) {
        size_t item = group + local_item / STRIDE * FACTOR * STRIDE + local_item % STRIDE + replica * STRIDE;
        output[item] = SCALE * input[item] + addend;
        merged[item] = FACTOR + WIDE;
    }
}
"""


@dataclass
class HandToolchain(Toolchain):
    """Stands in for the compiler; remembers what it was asked."""

    refuses: frozenset[str] = frozenset({"refused"})
    refused_factors: frozenset[int] = frozenset()
    broken: bool = False
    attribute: str = ""
    groups_matter: bool = True
    objects_below: int | None = None
    coarsened: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def coarsen(self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form) -> Code:
        assert not variant.any_size, "it looks at its work-groups"
        entries = variant.coarsenings or (Coarsening(1),)
        if {entry.level for entry in entries} != {"item"}:
            raise RefusalError("test-refusal", "written for work-items only")
        factor, is_wide = tuple(entry.factor for entry in entries), variant.transforms.wide_accesses
        self.coarsened.append((kernel, factor))
        if kernel in self.refuses or factor[0] in self.refused_factors:
            raise RefusalError("test-refusal", f"the kernel {kernel} is refused")
        scale = re.search(r"SCALE=(\d+)", " ".join(options))
        names = {
            "FACTOR": str(factor[0]),
            "STRIDE": str(entries[0].stride),
            "SCALE": scale.group(1) if scale else "1",
            "ATTRIBUTE": self.attribute,
            "WIDE": "100" if is_wide else "0",
        }
        text = re.sub("|".join(names), lambda match: names[match.group()], COARSENED)
        return Code(
            "this builds nowhere" if self.broken else text,
            needs_whole_groups=True,
            groups_matter=self.groups_matter,
            objects_below=self.objects_below if is_wide else None,
        )
