"""Where variables are declared, and in what order."""

from __future__ import annotations

from coarsen.backend.opencl_c.c.statements import Assign, Line
from coarsen.backend.opencl_c.structure.scopes import declare


def test_variables_declared_at_one_place_come_by_name() -> None:
    names = [f"v{k}" for k in range(10)]
    declared = declare([Line(f"use({', '.join(reversed(names))});")], names)
    assert [statement.variable for statement in declared if isinstance(statement, Assign)] == names
