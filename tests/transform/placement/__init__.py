"""Arrays in other memory, and tiles in loops."""
