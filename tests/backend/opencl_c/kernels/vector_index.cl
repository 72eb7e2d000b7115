kernel void vector_index(global int4* out, global const int4* first, global const int* second)
{
    int x = get_global_id(0);
    int4 a = first[x];
    int i = second[x] & 3;
    a[i] = 7;
    a[i ^ 1] += a[(i + 2) & 3];
    out[x] = a;
}
