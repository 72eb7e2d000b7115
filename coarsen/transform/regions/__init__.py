"""Divergent regions: what is done to each, and the code that does it.

plan.py            what is planned for each region, and why not more
plan_regions.py    the plan: copies one after the other, a fast path while the replicas agree, or lock-step

sequence.py        one replica's way through a region, and that of all, one copy after the other
slow_path.py       the replicas have diverged: each goes through the region alone
replica_loop.py    a loop over the replicas in place of their copies
"""
