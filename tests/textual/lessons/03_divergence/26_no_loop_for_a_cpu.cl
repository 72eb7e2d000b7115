// CPUs vectorise kernels over their work-items, those without loops best. There no loop over the replicas is brought into
// a region that has none.
//
// RUN: coarsen apply %s --factor 8 --device-kind cpu | filecheck %s --check-prefix CPU
// RUN: coarsen apply %s --factor 8 --device-kind gpu | filecheck %s --check-prefix GPU

kernel void border(global const float *in, global float *out, uint count, float scale)
{
    uint i = get_global_id(0);
    if (i < count)
        out[i] = in[i] * sqrt(scale) + in[i + 1] * cos(scale) + in[i + 2];
}

// CPU-NOT: replica
// CPU: } else if
// CPU-NOT: do {
// CPU-COUNT-8: if (condition{{[_2-8]*}}) {
//
// GPU: } while (replica < 8);
