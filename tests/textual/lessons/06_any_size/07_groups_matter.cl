// The same refusal with the place: the number of groups is what the launch says, and a guarded launch has another one.
//
// RUN: not coarsen apply %s --factor 2 --any-size 2>&1 | filecheck %s

kernel void share(global int *out, int work)
{
    out[get_global_id(0)] =
        work / (int)get_num_groups(0);
}

// CHECK: 07_groups_matter.cl:8:21: get_num_groups is about the work-group, so a size that does not divide can't be launched with work-groups of another size [needs-whole-groups]
