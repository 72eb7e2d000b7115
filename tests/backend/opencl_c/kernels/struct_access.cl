typedef struct { short value[2]; } inner_t;
typedef struct { int4 position; int tag; char kind; inner_t inner; } particle;

kernel void struct_access(global particle* out, global const particle* in, particle one)
{
    int x = get_global_id(0);
    particle p = in[x];
    p.tag += one.tag;
    p.inner.value[1] += 3;
    p.kind = in[x].kind * 2;
    out[x] = p;
    out[x].inner.value[x & 1] -= one.inner.value[0];
    out[x].position = p.position.wzyx;
}
