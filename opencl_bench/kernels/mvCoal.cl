/*
 * Matrix times vector, the matrix row-major, with coalesced loads.
 *
 * Origin: NVIDIA SDK, oclMatVecMul, version "coalesced 0"; written anew.
 * Threads: 1-D, one work-group per row; a group takes the rows from its group id on, in steps of the number
 * of groups. Work-items stride through the row by the local size; item 0 adds up what they found.
 * Local memory: one float per work-item.
 */
kernel void mvCoal(global const float *matrix, global const float *vector, uint width, uint height,
                   global float *result, local float *partial_sums)
{
    uint item = get_local_id(0);
    uint group_size = get_local_size(0);
    for (uint row = get_group_id(0); row < height; row += get_num_groups(0)) {
        global const float *elements = matrix + row * width;
        float sum = 0.0f;
        for (uint column = item; column < width; column += group_size)
            sum += elements[column] * vector[column];
        partial_sums[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);

        if (item == 0) {
            float total = 0.0f;
            for (uint other = 0; other < group_size; ++other)
                total += partial_sums[other];
            result[row] = total;
        }
        /* The next row's sums may only be stored when item 0 has read this row's. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
