constant uchar bytes[8] = {1, 0x5C, 2, 3, 0x5C, 0x5C, 0x22, 0xFF};
constant char text[] = "\\5C\\\\n?\"";

kernel void constant_bytes(global int* out)
{
    int x = get_global_id(0);
    out[x] = bytes[x & 7] * 256 + text[x & 7];
}
