"""The work of a kernel's configurations, counted from the plan of the transforms: nothing is compiled."""
