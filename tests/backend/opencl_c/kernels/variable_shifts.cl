kernel void variable_shifts(global int* out, global const int* first, global const uint* second)
{
    int x = get_global_id(0);
    out[x] = (first[x] << (second[x] & 31)) ^ (first[x] >> (second[x] & 15)) ^ (int)(second[x] >> (first[x] & 7));
}
