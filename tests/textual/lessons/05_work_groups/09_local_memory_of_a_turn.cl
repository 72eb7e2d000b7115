// In a loop over merged groups each turn has the local memory of its group, chosen by the number of the turn. A barrier
// before the loop and one at the end of each turn keep the barriers of the turns apart.
//
// RUN: coarsen apply %s --factor 4 --level group --fast-path always | filecheck %s

kernel void own(global const float *in, global float *out, local float *tile, uint groups)
{
    local float fixed[64];
    uint l = get_local_id(0);
    uint g = get_group_id(0);
    if (g < groups) {
        tile[l] = in[get_global_id(0)];
        fixed[l] = in[get_global_id(0) + 1];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = tile[63 - l] + fixed[63 - l];
    }
}

// CHECK: } else if
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: do {
// CHECK: bool [[SECOND:replica_is]] = replica == 1;
// CHECK-NEXT: local float* tile_alone = [[SECOND]] ? tile_1 : tile;
// CHECK: replica == 3;
// CHECK-NEXT: local float* [[TILE:tile_alone_3]] = {{[a-z_0-9]+}} ? tile_3 : tile_alone_2;
// CHECK: [[SECOND]] ? &fixed_2 : &fixed
// CHECK: uint g_alone = g + replica;
// CHECK-NEXT: if (g_alone < groups) {
// CHECK-NEXT: [[TILE]][l] =
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: out[{{.*}}] = [[TILE]][
// CHECK-NEXT: }
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: ++replica;
// CHECK-NEXT: } while (replica < 4);
