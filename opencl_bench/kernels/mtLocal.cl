/*
 * Transpose of a row-major matrix through local memory.
 *
 * Origin: AMD APP SDK, MatrixTranspose, version with local memory; written anew, for any number of groups
 * per side.
 * Threads: 2-D, one work-item per tile of 4 x 4 floats (four float4 rows); the NDRange is width / 4 by
 * height / 4. The work-group must be square. Its tiles are taken in diagonal order, to spread the stores
 * over memory channels.
 * Local memory: 4 * (items per work-group) float4.
 */
kernel void mtLocal(global float4 *output, global const float4 *input, local float4 *block)
{
    uint block_size = get_local_size(0);
    uint column = get_local_id(0);
    uint row = get_local_id(1);
    uint width = get_global_size(0);
    uint height = get_global_size(1);

    uint group = get_group_id(0) + get_num_groups(0) * get_group_id(1);
    uint group_y = group % get_num_groups(1);
    uint group_x = (group / get_num_groups(1) + group_y) % get_num_groups(0);

    uint source = (group_y * block_size + row) * width * 4 + group_x * block_size + column;
    uint staged = row * block_size * 4 + column;
    block[staged] = input[source];
    block[staged + block_size] = input[source + width];
    block[staged + block_size * 2] = input[source + width * 2];
    block[staged + block_size * 3] = input[source + width * 3];

    barrier(CLK_LOCAL_MEM_FENCE);

    /* The tile whose transpose is this item's: row and column change places. */
    staged = column * block_size * 4 + row;
    float4 first = block[staged];
    float4 second = block[staged + block_size];
    float4 third = block[staged + block_size * 2];
    float4 fourth = block[staged + block_size * 3];

    uint target = (group_x * block_size + row) * height * 4 + group_y * block_size + column;
    output[target] = (float4)(first.x, second.x, third.x, fourth.x);
    output[target + height] = (float4)(first.y, second.y, third.y, fourth.y);
    output[target + height * 2] = (float4)(first.z, second.z, third.z, fourth.z);
    output[target + height * 3] = (float4)(first.w, second.w, third.w, fourth.w);
}
