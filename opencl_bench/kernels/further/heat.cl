/*
 * One explicit step of the heat equation in the plane, with a conductivity of its own in every cell.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 2-D, one work-item per cell; dimension 0 is the column. Cells of the border keep their temperature
 * (divergent guard).
 */
kernel void heat(global const float *before, global const float *conductivity, global float *after, int width,
                 int height, float time_step)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    int cell = y * width + x;
    float here = before[cell];
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        after[cell] = here;
        return;
    }
    float flow = before[cell - 1] + before[cell + 1] + before[cell - width] + before[cell + width] - 4.0f * here;
    after[cell] = here + time_step * conductivity[cell] * flow;
}
