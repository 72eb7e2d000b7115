// OpenCL 2.0 numbers work-items through all dimensions. The linear id of a merged work-item is written out from the
// ids and sizes of the original launch; the device's own linear id counts the merged ones.
//
// RUN: coarsen apply %s --factor 2 --cl-std CL2.0 2>&1 | filecheck %s

kernel void linear(global int *out)
{
    out[get_global_linear_id()] = (int)get_local_linear_id();
}

// CHECK-NOT: get_{{(global|local)}}_linear_id(
// CHECK-DAG: ulong local_size_x = get_local_size(0) * 2;
// CHECK-DAG: ulong local_id_x = get_local_id(0) * 2;
// CHECK-DAG: ulong global_size_x = get_global_size(0) * 2;
// CHECK: out[global_linear_id_{{[0-9]}}] = [[VALUE:[a-z_0-9]+]];
// CHECK-NEXT: out[global_linear_id_{{[0-9]}}] = (uint)[[VALUE]] + 1;
