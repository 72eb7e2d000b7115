"""A user's kernel as a benchmark: a TOML file beside it says what its arguments, sizes and NDRange are.

init.py ── writes ─▶ kernel.toml ─ table.py ─▶ read.py ─▶ description.py ─ workload.py ─▶ Benchmark
                                                                ▲
                                   expressions, conditions, distributions, element_types
"""
