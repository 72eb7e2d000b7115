"""Where variables are declared and assigned, and in what order."""

from __future__ import annotations

from coarsen.backend.opencl_c.c.build import call, literal_int
from coarsen.backend.opencl_c.c.tree import Assign, Evaluate, Name
from coarsen.backend.opencl_c.c.types import INT, VOID
from coarsen.backend.opencl_c.structure.scopes import declare
from coarsen.backend.opencl_c.structure.terminators import in_order


def test_variables_declared_at_one_place_come_by_name() -> None:
    names = [f"v{k}" for k in range(10)]
    declared = declare([Evaluate(call("use", [Name(name, INT) for name in reversed(names)], VOID))], names)
    assert [statement.variable for statement in declared if isinstance(statement, Assign)] == names


def test_variables_that_one_value_reads_are_assigned_by_name_after_it() -> None:
    names = [f"v{k}" for k in range(10)]
    copies = [Assign(name, literal_int(0)) for name in names]
    total = Assign("total", call("sum", [Name(name, INT) for name in names], INT))
    assigned = [assign.variable for assign in in_order([total, *copies], lambda copy: Name("kept", INT))]
    assert assigned == ["total", *reversed(names)]
