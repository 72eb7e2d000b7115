typedef struct { float scale; short offsets[2]; } record_t;
constant float weights[2][4] = {{0.1f, 2, 3, -4}, {5, 6e20f, 7, 8}};
constant record_t records[4] = {{1.5f, {1, -2}}, {2.5f, {3, 4}}, {3.5f}, {4.5f, {-7, 8}}};
constant float2 directions[4] = {(float2)(0, 1), (float2)(2, 3), (float2)(4, 5), (float2)(6, 7)};
constant char text[] = "a\"b\n"; constant int zero[4] = {0};

kernel void constant_tables(global float* out, global const int* in)
{
    int x = get_global_id(0);
    int i = in[x] & 1, j = in[x + 1] & 3;
    out[x] = weights[i][j] + records[j].scale * records[i].offsets[j & 1] + directions[j].y + text[j] + zero[i];
}
