kernel void fibonacci(global uint* out, uint n)
{
    int x = get_global_id(0);
    uint a = 0, b = 1;
    for (uint i = 0; i < n + x; ++i) {
        uint t = a + b;
        a = b;
        b = t;
    }
    out[x] = a ^ b;
}
