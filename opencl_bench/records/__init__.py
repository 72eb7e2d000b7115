"""Records of measurements: plain data, and its form as JSON."""
