// What all merged work-items compute alike is computed once.
//
// `scale * scale` depends on no work-item id: it is *uniform*. Only the divergent instructions, those that depend on
// an id, are repeated; that is where coarsening saves work.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel void scaled(global float *data, float scale)
{
    data[get_global_id(0)] *= sqrt(scale * scale + 1.0f);
}

// CHECK: float [[ROOT:[a-z_0-9]+]] = sqrt(scale * scale + 1.0f);
// CHECK-NOT: sqrt
// CHECK: data[global_id_x] *= [[ROOT]];
// CHECK: data[global_id_x_2] = {{.*}} * [[ROOT]];
// CHECK: data[global_id_x_3] = {{.*}} * [[ROOT]];
// CHECK: data[global_id_x_4] = {{.*}} * [[ROOT]];
