kernel void break_and_continue(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int sum = 0;
    int i;
    for (i = 0; i < 40; ++i) {
        if (in[i] % 3 != 0) {
            if (in[i] % 7 == x % 7) {
                break;
            }
            sum += in[i];
            if (sum > 1000000) {
                sum = -1;
                break;
            }
        }
    }
    out[x] = sum + i;
}
