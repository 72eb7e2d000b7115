"""Static costs of a kernel and of its plans: instructions, accesses, registers, counted without running it."""
