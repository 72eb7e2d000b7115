// Qualifiers of arguments stay: restrict, const, volatile, and those of images.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void qualified(global const float *restrict from, constant float *table, volatile global int *flags,
                      local float *tile, global float *restrict to)
{
    size_t i = get_global_id(0);
    tile[get_local_id(0)] = from[i];
    flags[i] = 1;
    to[i] = tile[get_local_id(0)] * table[0];
}

// CHECK: kernel void qualified(
// CHECK-NEXT: global const float* restrict from,
// CHECK-NEXT: constant float* table,
// CHECK-NEXT: global volatile int* flags,
// CHECK-NEXT: local float* tile,
// CHECK-NEXT: global float* restrict to)
