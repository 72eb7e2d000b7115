kernel void casted_pointers(global int* out, global const int* in, global uchar* bytes)
{
    int x = get_global_id(0);
    global short* halves = (global short*)out;
    halves[2 * x] = in[x];
    halves[2 * x + 1] = in[x] >> 5;
    global const uchar* raw = (global const uchar*)(in + x);
    bytes[x] = raw[1] + raw[3];
}
