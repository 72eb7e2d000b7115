/*
 * A vector times a matrix, column by column: a work-item walks down a column, neighbours are one element apart.
 *
 * Kind: linear algebra whose array is best as it is.
 * Threads: 1-D, one work-item for each column, guarded.
 */
kernel void mv_columns(global const float *matrix, global const float *vector, global float *result, uint height,
                       uint width)
{
    uint column = get_global_id(0);
    if (column >= width)
        return;
    float sum = 0.0f;
    for (uint row = 0; row < height; row++)
        sum += matrix[row * width + column] * vector[row];
    result[column] = sum;
}
