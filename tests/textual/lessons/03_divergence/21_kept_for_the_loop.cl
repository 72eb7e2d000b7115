// What a replica has loaded before its turn can't be counted on from the number of the turn: it is kept in a private
// array, an element for each replica. Truth values are kept as bytes. What the turns compute for the code after them is
// kept the same way.
//
// RUN: coarsen apply %s --factor 8 --fast-path always | filecheck %s

kernel void kept(global const float *in, global float *out, uint count, float scale)
{
    uint i = get_global_id(0);
    float start = in[i];
    bool large = start > 1.0f;
    float result = 0.0f;
    if (i < count) {
        result = start * sqrt(scale) + start * cos(scale) + in[i + 2];
        if (large)
            result = result * 2.0f + sin(scale);
    }
    out[i] = result;
}

// CHECK-DAG: float start_kept[8];
// CHECK-DAG: char [[TRUTHS:[a-z_]+]]_kept[8];
// CHECK-DAG: float result_kept[8];
// CHECK: start_kept[0] = start;
// CHECK-NEXT: start_kept[1] = start_2;
// CHECK: [[TRUTHS]]_kept[7] =
// CHECK: do {
// CHECK-NEXT: float start_alone = start_kept[replica];
// CHECK-NEXT: uint i_alone = i + replica;
// CHECK: if (i_alone < count) {
// CHECK: result_alone = start_alone * sqrt(scale)
// CHECK: result_kept[replica] = result_alone;
// CHECK-NEXT: ++replica;
// CHECK: = result_kept[0];
// CHECK: = result_kept[7];
// CHECK: out[i] =
