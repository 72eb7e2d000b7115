// Equal arithmetic is computed once, however it is spelled: x + 1 of the first replica is x of the second.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void squares(global int *to)
{
    int i = get_local_id(0);
    to[i] = i * i + (i + 1) * (i + 1);
}

// CHECK: int i_2 = (uint)i + 1;
// CHECK: int [[SQUARE:[a-z_0-9]+]] = i_2 * i_2;
// CHECK: to[i] = i * i + [[SQUARE]];
// CHECK: to[i_2] = [[SQUARE]] +
