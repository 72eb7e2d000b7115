// Atomic operations name their space, operation and type.
//
// RUN: coarsen apply %s --factor 1 --emit ptx | filecheck %s

kernel void atomics(volatile global int *a, volatile local uint *l)
{
    atomic_add(a, 3);
    atomic_min(&l[0], 4u);
    atomic_cmpxchg(a + 1, 2, 3);
}

// CHECK: atom.{{.*}}global.add.u32 {{.*}}, 3;
// CHECK: atom.{{.*}}shared.min.u32 {{.*}}, 4;
// CHECK: atom.{{.*}}global.cas.b32 {{.*}}, 2, 3;
