typedef struct { int number; short parts[3]; } part_t;
typedef struct { part_t parts[2]; float2 pair; } whole_t;

kernel void volatile_copies(global volatile whole_t* out, global const whole_t* in)
{
    int x = get_global_id(0);
    volatile whole_t mine = in[x];
    whole_t other = mine;
    volatile part_t zero = {0};
    volatile int numbers[4] = {1, 2, 3, x};
    other.parts[0].number += numbers[x & 3];
    mine = other;
    mine.parts[x & 1].parts[1] = 5;
    mine.parts[1] = zero;
    out[x] = mine;
}
