// The element before one of which row and column are known is that of the column before, or the last of the row before:
// column - 1 is compared with 0, and nothing is divided. Where a condition says that there is a column before, not even
// that is compared. The row's length is the array's own, which is tested where the kernel begins, and so is that there
// are few enough elements: the index must be what it is said to be, not only modulo 2^32.
//
// RUN: coarsen apply %s --kernel before --factor 1 --order from=1,0 | filecheck %s
// RUN: coarsen apply %s --kernel within --factor 1 --order from=1,0 | filecheck %s --check-prefix WITHIN

kernel void before(global float *to, global const float *from, uint height, uint width)
{
    uint column = get_global_id(0), row = get_global_id(1);
    if (column < width && row < height)
        to[row * width + column] = from[row * width + column - 1];
}

kernel void within(global float *to, global const float *from, int height, int width)
{
    int column = get_global_id(0), row = get_global_id(1);
    if (column > 0 && column < width - 1 && row < height)
        to[row * width + column] = from[row * width + column - 1] + from[row * width + column + 1];
}

// CHECK: if ((height <= from_extent_0) & (from_extent_1 > 1) & (width == (long)from_extent_1) & ({{.*}} <= 2147483648UL)) {
// CHECK-NEXT: long [[BEFORE:[a-z_0-9]+]] = (long)column - 1;
// CHECK-NEXT: bool [[IS_BEFORE:[a-z_0-9]+]] = [[BEFORE]] < 0;
// CHECK-NEXT: long [[LAST:[a-z_0-9]+]] = [[BEFORE]] + from_extent_1;
// CHECK-NEXT: long [[COLUMN:[a-z_0-9]+]] = [[IS_BEFORE]] ? [[LAST]] : [[BEFORE]];
// CHECK-NEXT: long [[OWN:[a-z_0-9]+]] = row;
// CHECK-NEXT: long [[ABOVE:[a-z_0-9]+]] = [[OWN]] - 1;
// CHECK-NEXT: long [[ROW:[a-z_0-9]+]] = [[IS_BEFORE]] ? [[ABOVE]] : [[OWN]];
// CHECK-NEXT: ulong [[START:[a-z_0-9]+]] = [[COLUMN]] * from_extent_0;
// CHECK-NEXT: [[POSITION:[a-z_0-9]+]] = [[START]] + [[ROW]];
// CHECK-NEXT: } else {
// CHECK: / from_extent_1;
// CHECK: [[POSITION]]{{.}};

// WITHIN: bool ordered =
// WITHIN: if (column > 0
// WITHIN: if (ordered) {
// WITHIN-NEXT: long [[BEFORE:[a-z_0-9]+]] = (long)column - 1;
// WITHIN-NEXT: ulong [[START:[a-z_0-9]+]] = [[BEFORE]] * from_extent_0;
// WITHIN-NEXT: = [[START]] + (uint)row;
// WITHIN-NEXT: } else {
// WITHIN: if (ordered) {
// WITHIN-NOT: ?
// WITHIN: } else {
