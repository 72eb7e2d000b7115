typedef struct {} empty_t;
typedef struct { int number; empty_t nothing; } holder_t;

kernel void empty_structure(global int* out)
{
    volatile empty_t first;
    volatile holder_t holder = {7};
    holder_t copy = holder;
    out[get_global_id(0)] = copy.number + sizeof(first);
}
