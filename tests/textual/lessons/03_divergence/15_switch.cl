// A switch on data is copied like an if.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void operations(global const int *codes, global int *data)
{
    size_t i = get_global_id(0);
    switch (codes[i]) {
    case 0: data[i] += 1; break;
    case 5: data[i] *= 3; break;
    case 9: data[i] /= 7; break;
    }
}

// CHECK: if ([[CODE:[a-z_0-9]+]] == 0) {
// CHECK-NEXT: ++data[global_id_x];
// CHECK-NEXT: } else if ([[CODE]] == 5) {
// CHECK-NEXT: data[global_id_x] *= 3;
// CHECK-NEXT: } else if ([[CODE]] == 9) {
// CHECK-NEXT: data[global_id_x] /= 7;
// CHECK: if ([[CODE2:[a-z_0-9]+]] == 0) {
// CHECK-NEXT: ++data[global_id_x_2];
// CHECK-NEXT: } else if ([[CODE2]] == 5) {
