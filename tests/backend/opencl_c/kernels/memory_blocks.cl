typedef struct { int parts[9]; char last; } block_t;

kernel void memory_blocks(global block_t* out, global const block_t* in, constant block_t* fixed, local block_t* staged)
{
    int x = get_global_id(0);
    block_t mine = in[x];
    int l = get_local_id(0);
    staged[l] = fixed[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    mine.parts[x & 7] = staged[l ^ 1].parts[3];
    out[x] = mine;
}
