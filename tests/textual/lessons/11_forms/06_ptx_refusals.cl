// printf, images, and what a launch of PTX can't ask for.
//
// RUN: not coarsen apply %s --kernel prints --factor 1 --emit ptx 2>&1 | filecheck %s --check-prefix PRINTS
// RUN: not coarsen apply %s --kernel draws --factor 1 --emit ptx 2>&1 | filecheck %s --check-prefix DRAWS
// RUN: not coarsen apply %s --kernel asks --factor 1 --emit ptx 2>&1 | filecheck %s --check-prefix ASKS

kernel void prints(global int *a)
{
    printf("%d", a[0]);
// PRINTS: [[# @LINE - 1]]:5: printf has no counterpart in PTX [ptx-unsupported]
}

kernel void draws(write_only image2d_t canvas)
{
    write_imagef(canvas, (int2)(0), (float4)(0));
// DRAWS: the argument 'canvas' of type image2d_t has no counterpart in PTX [ptx-unsupported]
}

kernel void asks(global int *a)
{
    a[0] = get_work_dim();
// ASKS: [[# @LINE - 1]]:12: get_work_dim has no counterpart in PTX [ptx-unsupported]
}
