// Program-scope constants of several shapes, and a structure of arrays in the constant address space.
typedef struct {
    float weight[4];
    int offset[4];
    char tag;
} Table;

constant Table tables[2] = {
    {{0.5f, 0.25f, 0.125f, 0.125f}, {0, 1, 2, 3}, 'a'},
    {{1.0f, -1.0f, 2.0f, -2.0f}, {3, 2, 1, 0}, 'b'},
};
constant short2 pairs[3] = {(short2)(1, 2), (short2)(3, 4), (short2)(-5, 6)};
constant float scale = 1.5f;

kernel void constant_tables(global const float *input, constant Table *given, global float *output, int chosen) {
    const int i = get_global_id(0);
    constant Table *table = (i & 1) ? given : &tables[chosen & 1];
    float sum = table->tag == 'a' ? scale : -scale;
    for (int k = 0; k < 4; ++k) {
        sum += table->weight[k] * input[i + table->offset[k]];
    }
    const short2 pair = pairs[i % 3];
    output[i] = sum + (float)(pair.x * pair.y);
}
