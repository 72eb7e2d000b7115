"""Devices: OpenCL drivers that pip packages carry, discovery, health, names that a person gives, descriptors."""
