// Local ids and the local size are those of the original launch.
//
// The local size shrinks by the factor as the global size does; get_local_size gives the original one, a factor larger
// than what the launch says.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel void local_ids(global int *out)
{
    out[get_global_id(0)] = (int)(get_local_id(0) * 1000 + get_local_size(0));
}

// CHECK-DAG: ulong local_id_x = get_local_id(0) * 4;
// CHECK-DAG: ulong local_size_x = get_local_size(0) * 4;
//
// The next replica's local id is one more, so what is stored is 1000 more: that needs no new multiplication.
// CHECK: int [[VALUE:[a-z_0-9]+]] = local_id_x * 1000 + local_size_x;
// CHECK: out[global_id_x] = [[VALUE]];
// CHECK: out[global_id_x_2] = (uint)[[VALUE]] + 1000;
// CHECK: out[global_id_x_3] = (uint)[[VALUE]] + 2000;
// CHECK: out[global_id_x_4] = (uint)[[VALUE]] + 3000;
