"""What a kernel's work-items share and where they differ: control flow, divergence, legality."""
