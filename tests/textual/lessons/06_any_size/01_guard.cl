// A factor of 4 needs a global size that 4 divides, unless the kernel is guarded: --any-size adds the original global
// size as an argument, and work-items beyond it return at once. The guard is a condition on positions: it gets a
// fast path like any other.
//
// RUN: coarsen apply %s --factor 4 --any-size 2>&1 | filecheck %s

kernel void copy(global const float *from, global float *to)
{
    size_t i = get_global_id(0);
    to[i] = from[i] * 2.0f + from[i + 1] * 3.0f;
}

// CHECK: note: pass for the added argument global_size_x: the uncoarsened launch's global size along dimension 0, a ulong
// CHECK: kernel void copy(global const float* from, global float* to, ulong global_size_x)
// CHECK: ulong position = global_id_x -
// CHECK: if (position < global_size_x) {
// CHECK-NEXT: to[global_id_x] =
// CHECK-COUNT-3: < global_size_x) {
