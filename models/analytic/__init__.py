"""Analytic models of a kernel's running time, and the devices that they reckon with."""
