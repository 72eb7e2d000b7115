"""Metadata nodes of a function: read, added, put in the place of others."""

from __future__ import annotations

from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import signature_text
from coarsen.ir.metadata import node_items

SOURCE = "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(global float *data) { data[0] = 1; }"


def test_metadata_nodes_are_attached_in_their_places() -> None:
    module = lower(SOURCE).editable_graph()
    function = module.function("k")
    kinds = [kind for kind, _ in function.attachments]
    required = function.attachment("reqd_work_group_size")
    assert required and node_items(module.metadata, required) == ["i32 4", "i32 1", "i32 1"]
    added = module.add_node(["i32 2", '!"a, b"'])
    function.attach("reqd_work_group_size", added)
    assert [kind for kind, _ in function.attachments] == kinds
    assert node_items(module.metadata, added) == ["i32 2", '!"a, b"']
    assert f"!reqd_work_group_size {added} " in f"{signature_text(function)} "
    function.detach("reqd_work_group_size")
    assert function.attachment("reqd_work_group_size") is None
