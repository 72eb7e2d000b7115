/*
 * y = alpha * transposed(A) * x + beta * y for a row-major matrix.
 *
 * Kind: dense linear algebra; written for the second judge.
 * Threads: 1-D, one work-item per column, guarded. Neighbours load neighbouring elements of a row; x is uniform.
 */
kernel void gemv_transposed(global const float *a, global const float *x, global float *y, float alpha, float beta,
                            int rows, int columns)
{
    int column = get_global_id(0);
    if (column < columns) {
        float sum = 0.0f;
        for (int row = 0; row < rows; ++row)
            sum += a[row * columns + column] * x[row];
        y[column] = alpha * sum + beta * y[column];
    }
}
