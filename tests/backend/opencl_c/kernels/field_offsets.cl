typedef struct { char tag; float scale; double wide; char name[5]; } field_t;
#define OFFSET(type, field) ((uint)((local char*)&((local type*)0)->field - (local char*)0))

kernel void field_offsets(global uint* out)
{
    int x = get_global_id(0);
    out[x] = OFFSET(field_t, scale) * 1000000 + OFFSET(field_t, wide) * 10000 + OFFSET(field_t, name[x & 3]);
    if (x == 1)
        out[x] ^= OFFSET(field_t, name[2]);
}
