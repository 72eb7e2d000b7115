// Replicas often load the same element: the right neighbour of one is the next one's own. *Value numbering* finds that
// both addresses are equal and loads once; without clean-up each replica loads all of its own.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s
// RUN: coarsen apply %s --factor 2 --no-clean-up | filecheck %s --check-prefix PLAIN

kernel void smooth(global const float *from, global float *to)
{
    int i = get_global_id(0);
    to[i] = from[i] + from[i + 1];
}

// CHECK: float [[NEXT:[a-z_0-9]+]] = from[i_2];
// CHECK: float [[LAST:[a-z_0-9]+]] = from[i_2 + 1];
// CHECK: to[i] = from[i] + [[NEXT]];
// CHECK-NEXT: to[i_2] = [[NEXT]] + [[LAST]];
//
// PLAIN: to[i] = from[i] + from[i + 1];
