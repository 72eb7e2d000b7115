// A branch that merged work-items may take differently is *divergent*. The blocks that it decides about form a region,
// which is copied once for each of them, one copy after the other: each work-item asks its own condition.
//
// Nothing says that work-items agree about data, so that is what is done to `if (data[i] > 0)`.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s
// RUN: coarsen apply %s --factor 2 --report | filecheck %s --check-prefix REPORT

kernel void roots(global float *data)
{
    size_t i = get_global_id(0);
    if (data[i] > 0)
        data[i] = sqrt(data[i]);
}

// CHECK-DAG: float [[FIRST:[a-z_0-9]+]] = data[global_id_x];
// CHECK-DAG: float [[SECOND:[a-z_0-9]+]] = data[global_id_x_2];
// CHECK: if ([[FIRST]] > 0.0f) {
// CHECK-NEXT: data[global_id_x] = sqrt([[FIRST]]);
// CHECK-NEXT: }
//
// The second one loads again: the first one's store may have changed what `data` holds, for all that is known.
// CHECK-NEXT: if ([[SECOND]] > 0.0f) {
// CHECK-NEXT: data[global_id_x_2] = sqrt(data[global_id_x_2]);
//
// The report says where the region begins, what was done to it, and why not more.
// REPORT: factor 2 along dimension 0: 1 divergent region
// REPORT: 12:17 13 copies
// REPORT: 12:17 [agreement-unknown] the condition depends on data: nothing says that work-items agree
