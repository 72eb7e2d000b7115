kernel void unroll_hints(global float* out, global const float* in)
{
    int x = get_global_id(0);
    float sum = 0.0f;
    __attribute__((opencl_unroll_hint(4)))
    for (int i = 0; i < x; i++)
        sum += in[i & 7];
    int place = x;
    __attribute__((opencl_unroll_hint))
    do {
        sum *= 1.5f;
        place += 3;
    } while (place < 20);
#pragma unroll 2
    while (place > 3) {
        if (in[place & 7] > 0.5f)
            place -= 2;
        else
            sum += in[place & 7];
        place--;
    }
#pragma nounroll
    for (int i = 0; i < 8; i++) {
        if (in[i] > sum)
            break;
        sum -= in[i];
    }
    out[x] = sum;
}
