// Each merged group has its own local memory: a local buffer that the host passes gets a sister for each further group,
// and the command says what to pass for it.
//
// RUN: coarsen apply %s --factor 2 --level group 2>&1 | filecheck %s

kernel void reversed(global int *data, local int *tile)
{
    int l = get_local_id(0);
    tile[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = tile[get_local_size(0) - 1 - l];
}

// CHECK: note: pass for the added argument tile_1: local memory of the size that is passed for tile
// CHECK: // tile_1: local memory of the size that is passed for tile
// CHECK-NEXT: kernel void reversed(global int* data, local int* tile, local int* tile_1)
// CHECK: tile[l] =
// CHECK-NEXT: tile_1[l] =
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NOT: barrier
