typedef union { int number; float real; uchar bytes[4]; } either;

kernel void union_access(global either* out, global const either* in)
{
    int x = get_global_id(0);
    either e = in[x];
    e.number = (e.number & 0x3fffffff) | 0x20000000;
    e.real *= 2.0f;
    out[x] = e;
    out[x].bytes[1] += 7;
    if (out[x].number > 0) out[x].real += 1.0f;
}
