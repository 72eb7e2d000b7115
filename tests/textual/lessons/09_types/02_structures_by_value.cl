// A structure that is passed by value is read where it is used, once for all replicas.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

typedef struct { float factor; float shift; } line_t;

kernel void along(global float *data, line_t line)
{
    size_t i = get_global_id(0);
    data[i] = data[i] * line.factor + line.shift;
}

// CHECK: typedef struct {
// CHECK-NEXT: float factor;
// CHECK-NEXT: float shift;
// CHECK-NEXT: } line_t;
// CHECK: kernel void along(global float* data, line_t line)
// CHECK-DAG: float [[FACTOR:[a-z_0-9]+]] = line.factor;
// CHECK-DAG: float [[SHIFT:[a-z_0-9]+]] = line.shift;
// CHECK: data[global_id_x] = data[global_id_x] * [[FACTOR]] + [[SHIFT]];
// CHECK: data[global_id_x_2] = {{.*}} * [[FACTOR]] + [[SHIFT]];
