// Some builtins store through a pointer that they are given: `vstore4`, `sincos`, `modf`. After them a load may give
// something else, as it may after a store: neither value of `p` nor of `cosine` is used again after its place was written.
//
// RUN: coarsen apply %s --factor 2 --kernel stored | filecheck %s
// RUN: coarsen apply %s --factor 2 --kernel turned | filecheck %s --check-prefix TURNED

kernel void stored(global float *p, global float *q)
{
    size_t i = get_global_id(0);
    float before = p[4 * i];
    vstore4((float4)(1, 2, 3, 4), i, p);
    q[i] = p[4 * i] - before;
}

kernel void turned(global float *p, global const float *q)
{
    size_t i = get_global_id(0);
    float cosine;
    float sine = sincos(p[i], &cosine);
    sine += cosine;
    float other = sincos(q[i], &cosine);
    p[i] = sine + other * cosine;
}

// CHECK: vstore4(
// CHECK: vstore4(
// CHECK: = p[value_2];
// CHECK: q[global_id_x] = p[value] - before;
//
// TURNED: float other = sincos(q[global_id_x], &cosine);
// TURNED: p[global_id_x] = other * cosine + sine
