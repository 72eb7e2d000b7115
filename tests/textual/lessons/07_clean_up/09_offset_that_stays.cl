// The distance of an id to the launch's offset: the replicas' places are found from the first one's by additions. That
// the two calls of get_global_offset are the same is left to the device's compiler.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel void positions(global int *to)
{
    size_t place = get_global_id(0) - get_global_offset(0);
    to[place] = 1;
}

// CHECK: ulong place = global_id_x - get_global_offset(0);
// CHECK-NEXT: ulong place_2 = place + 1;
// CHECK-NEXT: ulong place_3 = place + 2;
// CHECK-NEXT: ulong place_4 = place + 3;
// CHECK: to[place] = 1;
// CHECK-NEXT: to[place_2] = 1;
