/*
 * A step of heat conduction in a box: each inner cell and its six neighbours, weighted; edges stay as they are.
 *
 * Origin: the task of stencil in Parboil (Stratton and others, 2012), whose blocks are 32 × 4; written anew.
 * IMPL 0: a work-item for a cell.
 * IMPL 1: a work-item for DEPTH cells along z, which keeps those before and after in registers.
 * IMPL 2: as 1, and the plane's cells of the work-group are in local memory.
 * Threads: 3-D, guarded; dimension 0 is x, the fastest. Local memory: a plane's cells and those about them (IMPL 2).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef DEPTH
#define DEPTH 8
#endif
#define AT(x, y, z) input[((z) * ny + (y)) * nx + (x)]

kernel void heatStencil(global const float *input, global float *output, uint nx, uint ny, uint nz, float centre,
                        float side, local float *plane)
{
    uint x = get_global_id(0) + 1;
    uint y = get_global_id(1) + 1;
#if IMPL == 0
    uint z = get_global_id(2) + 1;
    if (x + 1 < nx && y + 1 < ny && z + 1 < nz)
        output[(z * ny + y) * nx + x] = centre * AT(x, y, z)
            + side * (AT(x - 1, y, z) + AT(x + 1, y, z) + AT(x, y - 1, z) + AT(x, y + 1, z)
                      + AT(x, y, z - 1) + AT(x, y, z + 1));
#else
    uint first = get_global_id(2) * DEPTH + 1;
    uint end = min(first + DEPTH, nz - 1);
    int is_inside = x + 1 < nx && y + 1 < ny;
    float before = 0.0f;
    float own = 0.0f;
    if (is_inside && first < end) {
        before = AT(x, y, first - 1);
        own = AT(x, y, first);
    }
    for (uint z = first; z < end; ++z) {
        float after = is_inside ? AT(x, y, z + 1) : 0.0f;
        float about = 0.0f;
#if IMPL == 1
        if (is_inside)
            about = AT(x - 1, y, z) + AT(x + 1, y, z) + AT(x, y - 1, z) + AT(x, y + 1, z);
#else
        uint stride = get_local_size(0) + 2;
        uint here = (get_local_id(1) + 1) * stride + get_local_id(0) + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_inside) {
            plane[here] = own;
            /* The group's last cell inside of the box may come before its last work-item. */
            if (get_local_id(0) == 0)
                plane[here - 1] = AT(x - 1, y, z);
            if (get_local_id(0) == get_local_size(0) - 1 || x + 2 == nx)
                plane[here + 1] = AT(x + 1, y, z);
            if (get_local_id(1) == 0)
                plane[here - stride] = AT(x, y - 1, z);
            if (get_local_id(1) == get_local_size(1) - 1 || y + 2 == ny)
                plane[here + stride] = AT(x, y + 1, z);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_inside)
            about = plane[here - 1] + plane[here + 1] + plane[here - stride] + plane[here + stride];
#endif
        if (is_inside)
            output[(z * ny + y) * nx + x] = centre * own + side * (about + before + after);
        before = own;
        own = after;
    }
#endif
}
