kernel void integer_arithmetic(global TYPE* out, global const TYPE* first, global const TYPE* second)
{
    int x = get_global_id(0);
    TYPE a = first[x];
    TYPE b = second[x];
    out[4 * x] = (TYPE)(a * 3 - b) + (TYPE)(a << (b & 7)) - (TYPE)(b >> 2);
    out[4 * x + 1] = (a & b) ^ (a | ~b) ^ (a & 0x5a);
    out[4 * x + 2] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a > 7);
    out[4 * x + 3] = a / 3 + a % 5 + b / (TYPE)((a & 7) + 1) + b % (TYPE)((a & 7) + 1);
}
