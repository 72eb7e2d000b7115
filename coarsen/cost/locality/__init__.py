"""Where the accesses of a kernel go at a coarsening, what each costs a sub-group, and what would cost less.

    forms of addresses ─▶ lane_addresses.py ─▶ access_costs.py ─▶ mending.py, local_arrays.py, pads.py ─▶ report.py

For predictions only: the forms take arithmetic as exact.
"""
