/*
 * One step of diffusion in a room with insulated walls: seven points in three dimensions, of which those beyond a
 * wall are the point itself.
 *
 * Kind: structured grids; written for the second judge.
 * Threads: 3-D, one work-item per point, x along dimension 0; guarded along all three.
 */
kernel void room_diffusion(global const float *restrict before, global const float *restrict source,
                           global float *restrict after, int width, int height, int depth, float along_x,
                           float along_y, float along_z)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    int z = get_global_id(2);
    if (x < width && y < height && z < depth) {
        int plane = width * height;
        int centre = (z * height + y) * width + x;
        int west = (x == 0) ? centre : centre - 1;
        int east = (x == width - 1) ? centre : centre + 1;
        int north = (y == 0) ? centre : centre - width;
        int south = (y == height - 1) ? centre : centre + width;
        int below = (z == 0) ? centre : centre - plane;
        int above = (z == depth - 1) ? centre : centre + plane;

        float here = before[centre];
        float change = along_x * (before[west] + before[east] - 2.0f * here);
        change += along_y * (before[north] + before[south] - 2.0f * here);
        change += along_z * (before[below] + before[above] - 2.0f * here);
        after[centre] = here + change + source[centre];
    }
}
