// With an else there are two ways that all may take together. The test for the first stands before the test for the
// second; where neither holds each work-item goes alone.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void inside_or_border(global const float *in, global float *out, uint width, float scale)
{
    uint x = get_global_id(0);
    if (x > 0 && x < width - 1)
        out[x] = in[x - 1] * scale + in[x] * 2.0f + in[x + 1] * scale;
    else
        out[x] = in[x] * scale * 2.0f + scale * scale * scale;
}

// CHECK: bool [[C1:[a-z_0-9]+]] = (x > 0) & (x <
// CHECK: bool [[C2:[a-z_0-9]+]] = (x_2 > 0) & (x_2 <
//
// Both inside: the middle elements are loaded once for both.
// CHECK: if ([[C1]] & [[C2]]) {
// CHECK: out[x] =
// CHECK-NEXT: out[x_2] =
//
// One inside, one at the border.
// CHECK-NEXT: } else if ([[C1]] || [[C2]]) {
// CHECK: x_alone
//
// Both at the border: scale * scale * scale is computed once.
// CHECK: } else {
// CHECK: [[CUBE:[a-z_0-9]+]] = scale * scale * scale;
// CHECK: out[x] = {{.*}} + [[CUBE]];
// CHECK: out[x_2] = {{.*}} + [[CUBE]];
