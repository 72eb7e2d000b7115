typedef union { int number; long wide; } either_t;
typedef struct { char tag; either_t value; short last; } entry_t;

kernel void unnamed_structures(global long* out)
{
    int x = get_global_id(0);
    entry_t entries[2][3] = {{{'a', {5}, 1}, {'b', {6}, -2}, {'c', {.wide = 1L << 40}, 3}}, {{'d', {8}, 4}}};
    either_t alone = {x};
    entries[1][x % 3].value = alone;
    long sum = 0;
    for (int i = 0; i < 6; ++i) {
        sum = sum * 7 + entries[i / 3][i % 3].value.number + entries[i / 3][i % 3].tag + entries[i / 3][i % 3].last;
    }
    out[x] = sum;
}
