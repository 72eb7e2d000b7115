/*
 * Matrix times vector, the matrix row-major, with uncoalesced loads.
 *
 * Origin: NVIDIA SDK, oclMatVecMul, version "uncoalesced 0"; written anew.
 * Threads: 1-D, one work-item per row, guarded (`row < height`). Neighbours read elements a row apart; the
 * vector's load is uniform.
 */
kernel void mvUncoal(global const float *matrix, global const float *vector, uint width, uint height,
                     global float *result)
{
    uint row = get_global_id(0);
    if (row < height) {
        global const float *elements = matrix + row * width;
        float sum = 0.0f;
        for (uint column = 0; column < width; ++column)
            sum += elements[column] * vector[column];
        result[row] = sum;
    }
}
