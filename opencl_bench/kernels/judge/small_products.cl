/*
 * Products of many pairs of small square matrices.
 *
 * Kind: batched dense linear algebra, finite elements; written for the second judge.
 * Threads: 3-D: dimension 0 is the column, dimension 1 the row, dimension 2 the pair; guarded along all.
 */
#define ORDER 7

kernel void small_products(global const float *left, global const float *right, global float *products, uint count)
{
    uint column = get_global_id(0);
    uint row = get_global_id(1);
    uint pair = get_global_id(2);
    if (column >= ORDER || row >= ORDER || pair >= count)
        return;

    uint start = pair * ORDER * ORDER;
    float sum = 0.0f;
#pragma unroll
    for (uint k = 0; k < ORDER; ++k)
        sum += left[start + row * ORDER + k] * right[start + k * ORDER + column];
    products[start + row * ORDER + column] = sum;
}
