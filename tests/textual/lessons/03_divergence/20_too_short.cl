// A region of a few instructions is cheaper to copy than to test.
//
// RUN: coarsen apply %s --factor 2 --report | filecheck %s

kernel void short_guard(global float *data, uint count)
{
    uint i = get_global_id(0);
    if (i < count)
        data[i] = 1.0f;
}

// CHECK: 8:11 9 copies
// CHECK: 8:11 [too-short] the region is too short for a test of agreement to pay
