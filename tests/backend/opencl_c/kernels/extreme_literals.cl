kernel void extreme_literals(global long* out, global const int* first)
{
    int x = get_global_id(0);
    int a = first[x];
    out[2 * x] = (a < -2147483647 ? 1 : 2) + (a == (-2147483647 - 1)) + (0x7fffffffffffffffL - a);
    out[2 * x + 1] = ((long)a & 0xffffffff00000000L) | (-9223372036854775807L - 1 + (long)(uint)a);
}
