// Two ways lead into a block: one that all work-items take, and counts something on, and one that some take.
// What is counted belongs to each work-item and is the same for all.
kernel void counted_on_the_way(global const int *in, global int *out, int n) {
    const int x = get_global_id(0);
    int counts[4] = {1, 2, 3, 4};
    int sum = 3;
    if (n > 5 ? (counts[n & 3] += in[1], true) : (in[x] > 300)) {
        sum = in[x] + 5;
    }
    out[x] = sum + counts[in[0] & 3] * 7 + counts[n & 3];
}
