// Pointers are not kept in arrays. Which buffer a replica reads is for data to decide here, so that no turn could find
// its own: the replicas have a copy each.
//
// RUN: coarsen apply %s --factor 8 --fast-path always | filecheck %s

kernel void chosen(global const float *in, global const float *other, global float *out, uint count, float scale)
{
    uint i = get_global_id(0);
    global const float *from = in[i] > 0.0f ? in : other;
    if (i < count)
        out[i] = from[i] * sqrt(scale) + from[i + 1] * cos(scale) + from[i + 2];
}

// CHECK: } else if
// CHECK-NOT: replica
// CHECK-COUNT-8: if (condition{{[_2-8]*}}) {
// CHECK-NOT: replica
