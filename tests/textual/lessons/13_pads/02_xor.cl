// An exclusive or of the column with the row's number parts a column among the banks too, and takes no memory.
//
// RUN: coarsen apply %s --factor 1 --pad tile=xor | filecheck %s

kernel void transpose(global float *to, global const float *from)
{
    local float tile[16][16];
    int x = get_local_id(0) & 15, y = get_local_id(1) & 15;
    tile[y][x] = from[y * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[y * 16 + x] = tile[x][y];
}

// CHECK: local float tile[16][16];
// CHECK: tile[y][x ^ (long)y] = from
// CHECK: = tile[x][y ^ (long)x];
