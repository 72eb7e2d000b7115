// A branch on what all work-items share is no hazard: it stays one branch, with the replicas interleaved inside.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void uniform_branch(global float *data, int mode)
{
    size_t i = get_global_id(0);
    if (mode > 3)
        data[i] = data[i] * 2.0f;
    else
        data[i] = data[i] + 1.0f;
}

// CHECK: if (mode > 3) {
// CHECK-DAG: data[global_id_x] *= 2.0f;
// CHECK-DAG: data[global_id_x_2] = {{.*}} * 2.0f;
// CHECK: } else {
// CHECK-DAG: data[global_id_x] += 1.0f;
// CHECK-DAG: data[global_id_x_2] = {{.*}} + 1.0f;
// CHECK-NOT: if
