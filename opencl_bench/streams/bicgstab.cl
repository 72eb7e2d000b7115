/*
 * The operations of a step of BiCGSTAB on vectors that are no products, a work-item for an element.
 *
 * `norms` is rho and r.r, `rv` the product of the first residual and v, `stable` is t.r and t.t: results of reductions,
 * in memory. Where nothing is left to do, 0 / 0 is none.
 */

float ratio(float a, float b)
{
    return b == 0 ? 0 : a / b;
}

kernel void half_step(global const float *norms, global const float *rv, global const float *v, global float *r)
{
    const int i = get_global_id(0);
    r[i] -= ratio(norms[0], rv[0]) * v[i];
}

kernel void solution(global const float *norms, global const float *rv, global const float *stable,
                     global const float *p, global const float *r, global float *x)
{
    const int i = get_global_id(0);
    x[i] += ratio(norms[0], rv[0]) * p[i] + ratio(stable[0], stable[1]) * r[i];
}

kernel void residual(global const float *stable, global const float *t, global float *r)
{
    const int i = get_global_id(0);
    r[i] -= ratio(stable[0], stable[1]) * t[i];
}

kernel void direction(global const float *norms, global const float *rv, global const float *stable,
                      global const float *r, global const float *v, global float *p)
{
    const int i = get_global_id(0);
    p[i] = r[i] + ratio(norms[0], rv[0]) * (ratio(stable[1], stable[0]) * p[i] - v[i]);
}
