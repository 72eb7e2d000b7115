"""Coarsened text on disk, so that a kernel is lowered and coarsened once, not in every process.

toolchain ──▶ key (source, options, variant, headers, versions) ──▶ store (one file each) ──▶ entry
    └── where there is none: coarsens, and stores the text or the refusal
"""
