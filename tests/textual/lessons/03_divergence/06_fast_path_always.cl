// --fast-path always tests conditions on data as well.
//
// RUN: coarsen apply %s --factor 2 --fast-path always | filecheck %s
// RUN: coarsen apply %s --factor 2 --fast-path never --report | filecheck %s --check-prefix NEVER

kernel void roots(global float *data)
{
    size_t i = get_global_id(0);
    if (data[i] > 0)
        data[i] = sqrt(data[i]);
}

// CHECK: bool [[C1:[a-z_0-9]+]] = [[V1:[a-z_0-9]+]] > 0.0f;
// CHECK: bool [[C2:[a-z_0-9]+]] = [[V2:[a-z_0-9]+]] > 0.0f;
// CHECK: if ([[C1]] & [[C2]]) {
// CHECK-NEXT: data[global_id_x] = sqrt([[V1]]);
// CHECK-NEXT: data[global_id_x_2] = sqrt([[V2]]);
// CHECK-NEXT: } else if ([[C1]] || [[C2]]) {
// CHECK: if ([[C1]]) {
// CHECK: if ([[C2]]) {
//
// NEVER: [turned-off] the fast path is turned off
