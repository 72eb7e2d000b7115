// A stored value is loaded again where something between may have written it: through another argument, which may be the same buffer,
// at an index that is not known to differ, by another work-item before a barrier, by an atomic operation. With --distinct the
// first of these is ruled out. A volatile load stays, and so does that of a part of what was stored.
//
// RUN: coarsen apply %s --factor 2 --kernel alias | filecheck %s --check-prefix ALIAS
// RUN: coarsen apply %s --factor 2 --kernel alias --distinct | filecheck %s --check-prefix DISTINCT
// RUN: coarsen apply %s --factor 2 --kernel others | filecheck %s --check-prefix OTHERS

kernel void alias(global float *a, global float *b, float x)
{
    int i = get_global_id(0);
    a[i] = x * i;
    b[i] = 1.0f;
    b[i + 4] = a[i];
}

// ALIAS: b[i + 4] = a[i];
// ALIAS: b[i_2 + 4] = {{a.i_2.|loaded}};
// DISTINCT: a[i] = [[VALUE:[a-z_0-9]+]];
// DISTINCT: b[i + 4] = [[VALUE]];

kernel void others(global int *a, local int *near, volatile global int *seen, global uchar *bytes, int j)
{
    int i = get_global_id(0), k = get_local_id(0);
    a[i] = 3 * i;
    a[i + j] = 5;
    int index = a[i];
    near[k] = 7 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int local_one = near[k];
    seen[i] = 9 * i;
    int volatile_one = seen[i];
    ((global int *)bytes)[i] = 11 * i;
    a[j] = index + local_one + volatile_one + ((global ushort *)bytes)[i * 2];
}

// OTHERS: = a[i];
// OTHERS: = near[
// OTHERS: = seen[i];
// OTHERS: + (ushort)((global short*)bytes)[i * 2];
