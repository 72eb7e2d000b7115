// Conditions stay apart where they are not the same (`i <= n - 1` is not `i < n` for the smallest n), and where something is done
// between them.
//
// RUN: coarsen apply %s --factor 2 --kernel unequal | filecheck %s --check-prefix UNEQUAL
// RUN: coarsen apply %s --factor 2 --kernel between | filecheck %s --check-prefix BETWEEN

kernel void unequal(int n, global float *a, global float *b)
{
    int i = get_global_id(0);
    if (i < n)
        a[i] = 1.0f;
    if (i <= n - 1)
        b[i] = 2.0f;
}

// UNEQUAL: if (i < n)
// UNEQUAL: = n - 1;
// UNEQUAL: if (i <= 

kernel void between(int n, global float *a, global float *b)
{
    int i = get_global_id(0);
    if (i < n)
        a[i] = 1.0f;
    b[i] = 3.0f;
    if (i < n)
        b[i + n] = 2.0f;
}

// BETWEEN: if ([[CONDITION:[a-z_0-9]+]])
// BETWEEN: b[i] = 3.0f;
// BETWEEN: if ([[CONDITION]])
