typedef struct __attribute__((packed)) {
    char kind;
    int number;
    long wide;
} packed_t;

kernel void packed_struct(global packed_t* out, global const packed_t* in)
{
    int x = get_global_id(0);
    out[x].number = in[x].number * 3 + in[x].kind;
    out[x].wide = in[x].wide + 1;
    out[x].kind = x;
}
