/*
 * Weighted mean of the nine heights around each inner point of a map of 16-bit heights.
 *
 * Kind: structured grids, images; written for the second judge.
 * Threads: 2-D, one work-item per point of the map, rounded up; the work of points on or beyond the border is left
 * out by one condition. The weights are in constant memory; they add up to 2^shift.
 */
kernel void smooth_heights(global const ushort *heights, global ushort *smooth, constant uint *weights, uint shift,
                           int width, int height)
{
    const int column = get_global_id(0);
    const int row = get_global_id(1);
    if (column > 0 && column < width - 1 && row > 0 && row < height - 1) {
        uint sum = 1u << (shift - 1);
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                sum += weights[(dy + 1) * 3 + dx + 1] * heights[(row + dy) * width + column + dx];
        smooth[row * width + column] = (ushort)(sum >> shift);
    }
}
