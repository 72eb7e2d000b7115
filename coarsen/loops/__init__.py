"""Affine loops of C functions: what they compute, what depends on what, and what may run in parallel.

After Baskaran et al., "A Compiler Framework for Optimization of Affine Loop Nests for GPGPUs", 2007. In the order
of the flow: `clang_json` and `clang_tree` make a `tree` of a C function, `affine_of` a `nest` of that, with
`delinearise` for flat indices; `dependences`, `schedules` and `algorithm1` say what may be done with it, `explain`
says all in words. What comes after the tree needs islpy, which the extra `loops` brings.
"""
