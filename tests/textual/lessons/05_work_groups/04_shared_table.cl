// Local memory that all groups fill alike is shared: the table is loaded once for all merged groups.
//
// RUN: coarsen apply %s --factor 4 --level group | filecheck %s

kernel void through_table(global int *data, global const int *table, local int *copy)
{
    int l = get_local_id(0);
    copy[l] = table[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = copy[63 - l];
}

// CHECK: kernel void through_table(global int* data, global const int* table, local int* copy)
// CHECK: copy[l] = table[l];
// CHECK-NOT: table[
// CHECK: int [[VALUE:[a-z_0-9]+]] = copy[63 - l];
// CHECK: data[global_id_x] = [[VALUE]];
// CHECK: data[global_id_x_4] = [[VALUE]];
