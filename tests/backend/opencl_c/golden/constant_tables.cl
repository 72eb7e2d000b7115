typedef struct {
    float scale;
    short offsets[2];
} record_t;

constant float weights[2][4] = {{0.1f, 2.0f, 3.0f, -4.0f}, {5.0f, 6e+20f, 7.0f, 8.0f}};
constant record_t records[4] = {{1.5f, {1, -2}}, {2.5f, {3, 4}}, {3.5f, {0}}, {4.5f, {-7, 8}}};
constant float2 directions[4] = {(float2)(0.0f, 1.0f), (float2)(2.0f, 3.0f), (float2)(4.0f, 5.0f), (float2)(6.0f, 7.0f)};
constant char text[5] = {97, 34, 98, 10, 0};
constant int zero[4] = {0};

kernel void constant_tables(global float* out, global const int* in)
{
    int x = get_global_id(0);
    int i = in[x] & 1;
    int j = in[x + 1] & 3;
    float loaded = weights[i][j];
    out[x] = records[j].scale * (float)records[i].offsets[j & 1] + loaded + directions[j].y
        + (float)text[j] + (float)zero[i];
}
