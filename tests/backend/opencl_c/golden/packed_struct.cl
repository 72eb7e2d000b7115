typedef struct __attribute__((packed)) {
    char kind;
    int number;
    long field2;
} packed_t;

kernel void packed_struct(global packed_t* out, global const packed_t* in)
{
    int x = get_global_id(0);
    out[x].number = in[x].number * 3 + in[x].kind;
    out[x].field2 = in[x].field2 + 1;
    out[x].kind = x;
}
