/*
 * A matrix times a vector, row by row: a work-item walks along a row, neighbours are a row apart.
 *
 * Kind: linear algebra whose array is better transposed.
 * Threads: 1-D, one work-item for each row, guarded.
 */
kernel void mv_rows(global const float *matrix, global const float *vector, global float *result, uint height,
                    uint width)
{
    uint row = get_global_id(0);
    if (row >= height)
        return;
    float sum = 0.0f;
    for (uint column = 0; column < width; column++)
        sum += matrix[row * width + column] * vector[column];
    result[row] = sum;
}
