// A barrier at the end orders nothing: there is nothing after it that another work-item could notice. It is no reason
// to keep the work-groups as they are. In a guarded kernel it is left out, since not all of a group would come to it.
//
// RUN: coarsen apply %s --factor 2 --any-size | filecheck %s

kernel void scale(global float *x, float by)
{
    x[get_global_id(0)] *= by;
    barrier(CLK_GLOBAL_MEM_FENCE);
}

// CHECK-NOT: barrier
// CHECK: global_size_x
// CHECK-NOT: barrier
