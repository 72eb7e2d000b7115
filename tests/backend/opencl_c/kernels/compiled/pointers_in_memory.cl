typedef struct { private int* places[3]; global int* target; } places_t;
constant int first[2] = {3, 4}, second[2] = {5, 6};
constant int* constant tables[2] = {first, second};

kernel void pointers_in_memory(global int* out, global const int* in)
{
    global const int* local shared[8];
    global const int* local one;
    int x = get_global_id(0), l = get_local_id(0);
    int a = 1, b = 2, c = x;
    private int* chosen[4] = {&a, &b, &c, 0};
    private int* none[3] = {0, 0, 0};
    places_t places = {{&b, &c, &a}, out};
    shared[l] = in + x;
    if (l == 0)
        one = in + 8;
    barrier(CLK_LOCAL_MEM_FENCE);
    *chosen[l % 3] += 10;
    none[l % 3] = places.places[l & 1];
    *none[l % 3] += 100;
    places.target[x] = a * 10000 + b * 100 + c + *shared[l ^ 1] + one[l] + tables[l & 1][l >> 2];
}
