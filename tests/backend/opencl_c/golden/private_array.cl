kernel void private_array(global float* out, global const float* in, global const int* index)
{
    float kept[8] = {1.0f, 2.0f, 3.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    int x = get_global_id(0);
    for (int i = 0; i < 8; ++i) {
        int value = (i + x) & 7;
        kept[value] += in[x + i];
    }
    out[x] = kept[index[x] & 7] - kept[(x + 3) & 7];
}
