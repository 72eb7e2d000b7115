// One Jacobi step on a grid of doubles, a tile and its rim staged in static local memory.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define TILE 8

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void jacobi(global const double *before, global double *after, global double *changes, int width, int height) {
    local double tile[TILE + 2][TILE + 2];
    const int x = get_global_id(0), y = get_global_id(1);
    const int i = get_local_id(0) + 1, j = get_local_id(1) + 1;
    tile[j][i] = before[y * width + x];
    if (i == 1) {
        tile[j][0] = x > 0 ? before[y * width + x - 1] : 0.0;
    }
    if (i == TILE) {
        tile[j][TILE + 1] = x + 1 < width ? before[y * width + x + 1] : 0.0;
    }
    if (j == 1) {
        tile[0][i] = y > 0 ? before[(y - 1) * width + x] : 0.0;
    }
    if (j == TILE) {
        tile[TILE + 1][i] = y + 1 < height ? before[(y + 1) * width + x] : 0.0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const double value = 0.25 * (tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i]);
    after[y * width + x] = value;
    changes[y * width + x] = fabs(value - tile[j][i]);
}
