// Tables of constants stay in the program, and are indexed by each replica.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

constant float weights[3] = {0.25f, 0.5f, 0.25f};

kernel void weighted(global float *data, int which)
{
    data[get_global_id(0)] *= weights[which];
}

// CHECK: constant float weights[3] = {0.25f, 0.5f, 0.25f};
// CHECK: float [[WEIGHT:[a-z_0-9]+]] = weights[which];
// CHECK: data[global_id_x] *= [[WEIGHT]];
// CHECK-NEXT: data[global_id_x_2] = {{.*}} * [[WEIGHT]];
