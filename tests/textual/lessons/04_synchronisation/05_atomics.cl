// An atomic operation is done by every replica, and none of them is merged with another, though the address is the same.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void count(global const int *data, volatile global int *counter, global int *tickets)
{
    size_t i = get_global_id(0);
    tickets[i] = atomic_add(counter, 1) + data[i];
}

// CHECK: int [[FIRST:[a-z_0-9]+]] = atomic_add(counter, 1);
// CHECK-NEXT: int [[SECOND:[a-z_0-9]+]] = atomic_add(counter, 1);
// CHECK: tickets[global_id_x] = [[FIRST]] +
// CHECK-NEXT: tickets[global_id_x_2] = [[SECOND]] +
