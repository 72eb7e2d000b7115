/*
 * One step of heat in a plate, a five-point stencil; points on the border keep their temperature.
 *
 * Kind: structured grids; written for the second judge.
 * Threads: 2-D, one work-item per point; dimension 0 is the column, dimension 1 the row. Work-items beyond the
 * plate return early.
 */
kernel void heat_plate(global const float *before, global float *after, int width, int height, float rate)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    int point = y * width + x;
    float here = before[point];
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        after[point] = here;
        return;
    }
    float around = before[point - 1] + before[point + 1] + before[point - width] + before[point + width];
    after[point] = here + rate * (around - 4.0f * here);
}
