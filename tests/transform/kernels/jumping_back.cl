// Two jumps back to one place: of the loop's blocks, the one behind the first jump ends some iterations only.
kernel void jumping_back(global const int *data, global int *out, int most) {
    int item = get_global_id(0);
    int x = data[item] * 977, steps = 0;
again:
    x >>= 1;
    steps = steps * 3 + x;
    if (x & 4) goto again;
    steps ^= item;
    if (x > most) goto again;
    out[item] = x + steps;
}
