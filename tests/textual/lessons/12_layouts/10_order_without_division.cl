// Where an element of another order stands follows from its row and column. An index that is row * width + column, with
// row < height and column < width where it is accessed, says both without a division, if `width` is the extent of the
// array's rows, there are at least `height` rows, and nothing wraps. The launch says that: it is tested once, where the
// kernel begins. Another launch divides, and is right all the same.
//
// Without a limit for the column the index is divided in any case.
//
// RUN: coarsen apply %s --kernel rows --factor 1 --order matrix=1,0 | filecheck %s
// RUN: coarsen apply %s --kernel shifted --factor 1 --order matrix=1,0 | filecheck %s --check-prefix DIVIDED

kernel void rows(global float *matrix, uint height, uint width)
{
    uint row = get_global_id(0);
    if (row < height)
        for (uint column = 0; column < width; column++)
            matrix[row * width + column] = 0;
}

kernel void shifted(global float *matrix, uint height, uint width, uint shift)
{
    uint row = get_global_id(0);
    if (row < height)
        for (uint column = 0; column < width; column++)
            matrix[row * width + column + shift] = 0;
}

// CHECK: bool ordered = (height <= matrix_extent_0) & (width == (long)matrix_extent_1) & ({{.*}} <= 4294967296UL);
// CHECK: for (uint column = 0u; column < width; ++column) {
// CHECK: if (ordered) {
// CHECK-NEXT: ulong [[COLUMN:[a-z_0-9]+]] = column * matrix_extent_0;
// CHECK-NEXT: [[POSITION:[a-z_0-9]+]] = [[COLUMN]] + row;
// CHECK-NEXT: } else {
// CHECK: / matrix_extent_1;
// CHECK: [[POSITION]]{{.}} = 0.0f;

// DIVIDED-NOT: ordered
// DIVIDED: bool [[FITS:[a-z_0-9]+]] = {{.*}} <= 2147483648UL;
// DIVIDED: if ([[FITS]]) {
// DIVIDED: } else {
// DIVIDED: / matrix_extent_1;
