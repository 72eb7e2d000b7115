/*
 * Potential of particles in boxes: each is acted on by all particles of its own box and of those around it.
 *
 * Kind: cell lists of molecular dynamics; written for the second judge.
 * Threads: 1-D, one work-group per box of IN_BOX particles, whose work-items take them in turns. The box has a list
 * of boxes around it, itself among them, as many as there are.
 * Local memory: the particles of one neighbouring box.
 */
#define IN_BOX 48

kernel void box_interactions(global const float4 *particles, global const int *box_starts,
                             global const int *boxes_around, global float4 *results, float steepness)
{
    local float4 others[IN_BOX];
    const int box = get_group_id(0);
    const int item = get_local_id(0);
    const int items = get_local_size(0);

    for (int i = item; i < IN_BOX; i += items)
        results[box * IN_BOX + i] = (float4)(0.0f);

    for (int entry = box_starts[box]; entry < box_starts[box + 1]; ++entry) {
        const int around = boxes_around[entry];
        for (int i = item; i < IN_BOX; i += items)
            others[i] = particles[around * IN_BOX + i];
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int i = item; i < IN_BOX; i += items) {
            const float4 here = particles[box * IN_BOX + i];
            float4 sum = results[box * IN_BOX + i];
            for (int j = 0; j < IN_BOX; ++j) {
                const float4 apart = here - others[j];
                const float squared = dot(apart.xyz, apart.xyz);
                const float weight = others[j].w * exp(-steepness * squared);
                sum += (float4)(2.0f * weight * apart.xyz, weight);
            }
            results[box * IN_BOX + i] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
