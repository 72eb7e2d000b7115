// A private array belongs to a work-item: each replica has one of its own.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void last_of_four(global const int *in, global int *out, int which)
{
    int kept[4];
    size_t i = get_global_id(0);
    for (int k = 0; k < 4; ++k)
        kept[k] = in[i * 4 + k];
    out[i] = kept[which];
}

// CHECK: int kept[4];
// CHECK-NEXT: int kept_2[4];
// CHECK: for (int k = 0; k < 4; ++k) {
// CHECK: kept[k] =
// CHECK-NEXT: kept_2[k] =
// CHECK-NEXT: }
// CHECK: = kept_2[which];
