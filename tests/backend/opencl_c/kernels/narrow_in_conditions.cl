kernel void narrow_in_conditions(global int* out, global const uchar* first, global const short* second)
{
    int x = get_global_id(0);
    uchar a = first[x];
    short b = second[x];
    a += 200;
    b -= 30000;
    a = a << 1;
    out[x] = (a > 100 ? 1 : 0) | (b < 0 ? 2 : 0) | ((uchar)(a + b) > 50 ? 4 : 0) | ((a - b) << 4);
}
