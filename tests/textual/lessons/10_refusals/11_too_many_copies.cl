// 16 by 16 by 16 work-items of even a small kernel are more instructions than compilers take. It is refused before
// anything is copied.
//
// RUN: not coarsen apply %s --factor 16 --dim 0 --factor 16 --dim 1 --factor 16 --dim 2 2>&1 | filecheck %s

#define FIVE_TIMES(statement) statement statement statement statement statement

kernel void cube(global int *out, int width)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    FIVE_TIMES(FIVE_TIMES(out[(z * width + y) * width + x] += 1;))
// CHECK: instructions, more than 600,000 [too-many-copies]
}
