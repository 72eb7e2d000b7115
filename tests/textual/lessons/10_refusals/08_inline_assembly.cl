// What assembly does is not known.
//
// RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

kernel void assembly(global int *out)
{
    __asm__ volatile("nop");
// CHECK: [[# @LINE - 1]]:5: inline assembly can't be replicated [inline-assembly]
    out[0] = 1;
}
