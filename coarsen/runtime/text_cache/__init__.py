"""Coarsened text on disk: made once, not in every process.

toolchain ──▶ key (source, options, variant, headers, versions) ──▶ store (one file each) ──▶ text or refusal
    └── where there is none: coarsens, and stores the text or the refusal
"""
