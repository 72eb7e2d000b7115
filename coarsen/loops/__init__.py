"""Affine loops of C functions: what they compute, what depends on what, and what may run in parallel.

After Baskaran et al., "A Compiler Framework for Optimization of Affine Loop Nests for GPGPUs", OSU-
CISRC-12/07-TR78. In the order of the flow: `clang_tree` (a C function as a tree), `affine_of` (its statements with
their domains and accesses), `delinearise` (rows and columns of flat indices), `dependences`, `reuse`, `schedules`
and `algorithm1`; `explain` says it in words. All but the tree need islpy, which the extra `loops` brings.
"""
