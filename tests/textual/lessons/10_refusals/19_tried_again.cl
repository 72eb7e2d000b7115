// An update that is tried again until nobody has come in between waits for nobody: the work-item that runs alone
// succeeds. So does one that takes a number out of a queue.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void sum(volatile global uint *total, global const float *x)
{
    uint old, next;
    do {
        old = *total;
        next = as_uint(as_float(old) + x[get_global_id(0)]);
    } while (atomic_cmpxchg(total, old, next) != old);
}

// CHECK: atomic_cmpxchg(
// CHECK: atomic_cmpxchg(
