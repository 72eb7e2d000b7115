/*
 * C = alpha * A * transpose(B) + beta * C, all matrices column-major in single precision.
 *
 * Origin: Parboil, sgemm, base version; written anew.
 * Threads: 2-D, one work-item per element of C; dimension 0 is the row, dimension 1 the column. No guard:
 * the NDRange is exactly C's height by C's width. The loop's load of B is uniform along dimension 0, that of
 * A along dimension 1.
 */
kernel void sgemm(global const float *left, int left_stride,
                  global const float *right, int right_stride,
                  global float *result, int result_stride,
                  int inner_size, float alpha, float beta)
{
    int row = get_global_id(0);
    int column = get_global_id(1);
    float sum = 0.0f;
    for (int inner = 0; inner < inner_size; ++inner)
        sum += left[row + inner * left_stride] * right[column + inner * right_stride];
    int index = row + column * result_stride;
    result[index] = beta * result[index] + alpha * sum;
}
