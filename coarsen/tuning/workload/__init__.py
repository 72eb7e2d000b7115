"""What is launched: a benchmark, its workloads, and launches captured from programs."""
