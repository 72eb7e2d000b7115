"""The launch model: the launch to use for a kernel on a device, against its best uncoarsened local size.

A launch is coarsenings along dimensions (factor, stride, level), wide accesses and a local size. `METHOD.md` says
how it is made and judged. Prediction needs NumPy alone; `growing`, `training` and `evaluation` need scikit-learn,
and are not imported from here.
"""
