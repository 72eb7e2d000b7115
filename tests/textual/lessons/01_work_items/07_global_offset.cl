// A launch may start at a global offset, and ids count from it. The offset is not divided by the factor: only the
// distance to it is multiplied.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void offset(global int *out)
{
    out[get_global_id(0) - get_global_offset(0)] = (int)get_global_id(0);
}

// CHECK: ulong global_offset_x = get_global_offset(0);
// CHECK: global_id_x = (get_global_id(0) - global_offset_x) * 2 + global_offset_x;
// CHECK: ulong [[PLACE:[a-z_0-9]+]] = global_id_x - {{.*}}offset
// CHECK: out{{\[}}[[PLACE]]] =
// CHECK: out{{\[}}[[PLACE]] + 1] =
