kernel void nested_loops(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        int row = 0;
        for (int j = i; j < n; j += 2) {
            if (((in[j] ^ x) & 1) != 0) {
                row += j;
            } else {
                if ((in[j] & 2) == 0) {
                    break;
                }
                row ^= in[j] & 255;
            }
        }
        sum = sum * 3 + row;
    }
    out[x] = sum;
}
