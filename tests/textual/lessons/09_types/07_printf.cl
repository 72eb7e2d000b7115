// printf has an effect, so every replica prints, even what all of them print alike; format strings stay literals.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void hello(int n)
{
    printf("item %d of \"%d\"\n", (int)get_global_id(0), n);
    printf("done\n");
}

// CHECK: printf("item %d of \"%d\"\n", [[ID:[a-z_0-9]+]], n);
// CHECK-NEXT: printf("item %d of \"%d\"\n", [[ID]] + 1, n);
// CHECK-NEXT: printf("done\n");
// CHECK-NEXT: printf("done\n");
