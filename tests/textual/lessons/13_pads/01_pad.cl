// With --pad each row of a static local array gets elements more, so that a column's elements lie in many banks. What it
// takes, and what it does to bank conflicts, is said. An index that is known to stay in its row stays as it is; of others the
// row and the column are computed anew, for kernels may fill a whole array by `tile[0][k]`.
//
// RUN: coarsen apply %s --factor 2 --pad tile=1 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 2 --pad tile=1 --print-after layout 2>&1 | filecheck %s --check-prefix IR

kernel void transpose(global float *to, global const float *from, int width, int height)
{
    local float tile[16][16];
    int x = get_local_id(0) & 15, y = get_local_id(1) & 15;
    tile[y][x] = from[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[(get_group_id(0) * 16 + y) * height + get_group_id(1) * 16 + x] = tile[x][y];
}

// CHECK: note: rows of tile have 1 element more: 1088 bytes of local memory in place of 1024
// CHECK: note: tile: rows of 1 element more: bank degrees of {{[0-9]+}} become {{[0-9]+}}
// CHECK: local float tile[16][17];
// CHECK: tile[y][x] = from
// CHECK: = tile[x][y];
//
// IR: @transpose.tile = internal addrspace(3) global [16 x [17 x float]]
// IR: getelementptr inbounds{{( nuw)?}} [16 x [17 x float]], ptr addrspace(3) @transpose.tile, i64 0, i64 %{{[a-z0-9.]+}}, i64 %{{[a-z0-9.]+}}
