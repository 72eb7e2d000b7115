kernel void long_literals(global ulong* out, global const ulong* in, int n)
{
    int x = get_global_id(0);
    ulong hash = in[x] * 6364136223846793005ULL + 1442695040888963407ULL;
    for (int i = 0; i < n; ++i) {
        hash ^= hash >> 33;
        hash *= 0xff51afd7ed558ccdULL;
        hash = (hash & 0xffffffffffffULL) | (hash << (64ULL - 16));
    }
    long long sum = n;
    sum = sum * 3 + x;
    out[x] = hash < 100ULL ? hash % 10ULL : hash + (ulong)sum;
}
