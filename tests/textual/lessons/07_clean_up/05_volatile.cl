// Volatile loads are all done, each for every replica.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void watch(volatile global int *sensor, global int *to)
{
    int first = *sensor;
    int second = *sensor;
    to[get_global_id(0)] = first - second;
}

// CHECK-COUNT-4: = *sensor;
// CHECK: to[global_id_x] = first - second;
// CHECK: to[global_id_x_2] = first_2 - second_2;
