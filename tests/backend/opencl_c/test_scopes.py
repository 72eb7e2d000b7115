"""Where variables are declared, and in what order."""

from __future__ import annotations

from coarsen.backend.opencl_c.c.build import call
from coarsen.backend.opencl_c.c.statements import Assign, Evaluate
from coarsen.backend.opencl_c.c.tree import Name
from coarsen.backend.opencl_c.c.types import INT, VOID
from coarsen.backend.opencl_c.structure.scopes import declare


def test_variables_declared_at_one_place_come_by_name() -> None:
    names = [f"v{k}" for k in range(10)]
    declared = declare([Evaluate(call("use", [Name(name, INT) for name in reversed(names)], VOID))], names)
    assert [statement.variable for statement in declared if isinstance(statement, Assign)] == names
