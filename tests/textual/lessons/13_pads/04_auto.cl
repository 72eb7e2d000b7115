// For a device with banks, auto takes the pad that costs least over all accesses. A CPU has no banks: nothing is padded.
//
// RUN: coarsen apply %s --factor 1 --pad tile=auto 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 1 --pad tile=auto --device-kind cpu 2>&1 | filecheck %s --check-prefix CPU
// RUN: coarsen apply %s --factor 1 --pad tile=auto --report | filecheck %s --check-prefix REPORT

kernel void column(global float *to, global const float *from)
{
    local float tile[32][32];
    int x = get_local_id(0);
    for (int row = 0; row < 32; ++row)
        tile[row][x] = from[row * 32 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int column = 0; column < 32; ++column)
        sum += tile[x][column];
    to[x] = sum;
}

// CHECK: note: tile: rows of 1 element more: bank degrees of 33 become 2
// CHECK: local float tile[32][33];
// CPU: note: tile: no pad: the device's local memory has no banks
// CPU: local float tile[32][32];
// REPORT: Pads of local arrays
// REPORT-NEXT: tile: rows of 1 element more: bank degrees of 33 become 2
