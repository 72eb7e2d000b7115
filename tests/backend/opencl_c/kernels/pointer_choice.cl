kernel void pointer_choice(global int* out, global const int* a, global const int* b, int n)
{
    int x = get_global_id(0);
    global const int* p = x & 1 ? a : b + 3;
    global const int* end = p + n;
    int sum = 0;
    while (p != end && p < end) sum += *p++;
    out[x] = sum + (int)(end - a) * 0 + (p == end);
}
