// A work-group size that the source only hints at was meant for uncoarsened work-groups: merged work-items don't keep the
// hint, merged work-groups do.
//
// RUN: coarsen apply %s --factor 4 --emit ll | filecheck %s --check-prefix ITEM
// RUN: coarsen apply %s --factor 4 --level group --emit ll | filecheck %s --check-prefix GROUP

kernel __attribute__((work_group_size_hint(32, 2, 1))) void hinted(global int *out)
{
    out[get_global_id(0)] = 1;
}

// ITEM: define {{.*}}@hinted
// ITEM-NOT: work_group_size_hint
//
// GROUP: define {{.*}}@hinted{{.*}} !work_group_size_hint ![[HINT:[0-9]+]]
// GROUP: ![[HINT]] = !{i32 32, i32 2, i32 1}
