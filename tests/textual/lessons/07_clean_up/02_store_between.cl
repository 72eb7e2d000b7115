// A store may change what a later load sees: `to` and `from` may be the same buffer. So the value is loaded again.
// With clean-up the loads of the second replica that stand before the store still merge.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void twice(global const int *from, global int *to)
{
    int first = from[0];
    to[get_global_id(0)] = first;
    int second = from[0];
    to[get_global_id(0) + 1000] = second;
}

// CHECK: int first = *from;
// CHECK-NEXT: to[global_id_x] = first;
// CHECK-NEXT: to[global_id_x_2] = first;
// CHECK-NEXT: int second = *from;
// CHECK-NOT: *from
// CHECK: to[global_id_x + 1000] = second;
