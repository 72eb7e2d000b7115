kernel void irreducible(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int i = 0, sum = 0;
    if (in[x] & 1) goto middle;
start:
    sum += i;
middle:
    ++i;
    sum ^= in[i];
    if (i < n + 3) goto start;
    out[x] = sum;
}
