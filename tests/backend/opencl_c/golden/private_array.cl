constant float kept_2[8] = {1.0f, 2.0f, 3.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};

kernel void private_array(global float* out, global const float* in, global const int* index)
{
    float kept[8];
    int x = get_global_id(0);
    for (ulong index_2 = 0; index_2 < 8; ++index_2) {
        kept[index_2] = kept_2[index_2];
    }
    for (int i = 0; i < 8; ++i) {
        int value = (i + x) & 7;
        kept[value] += in[x + i];
    }
    out[x] = kept[index[x] & 7] - kept[(x + 3) & 7];
}
