kernel void sign_changes(global long* out, global const int* first, global const uint* second, global const char* third)
{
    int x = get_global_id(0);
    int a = first[x];
    uint b = second[x];
    char c = third[x];
    out[4 * x] = (long)a + (ulong)b - (uchar)c;
    out[4 * x + 1] = (a >> 3) + (b >> 3) + ((uint)a >> 5) + ((int)b >> 5);
    out[4 * x + 2] = (a < (int)b) + 2 * ((uint)a < b) + 4 * (c < a) + 8 * ((uchar)c < b);
    out[4 * x + 3] = (long)(short)a * (ushort)b + (char)(a + b) + (uchar)(c * 3);
}
