kernel void vector_shuffle(global int4* out, global const int4* first, global const uint4* mask)
{
    int x = get_global_id(0);
    out[x] = shuffle(first[x], mask[x]) + shuffle2(first[x], first[x + 1], mask[x]).wzyx;
}
