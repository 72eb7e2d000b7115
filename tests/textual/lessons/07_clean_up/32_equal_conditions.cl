// Equal conditions, one after the other, are one branch, the opposite one too: what the first part stores the second need not load.
// Each kernel called here keeps its guard, so that calling one after the other is fusing them.
//
// RUN: coarsen apply %s --factor 2 --kernel both --fast-path always | filecheck %s
// RUN: coarsen apply %s --factor 2 --kernel values | filecheck %s --check-prefix VALUES

kernel void scale(int n, float k, global const float *a, global float *t)
{
    int i = get_global_id(0);
    if (i < n)
        t[i] = k * a[i];
}

kernel void add(int n, global const float *t, global const float *b, global float *c)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    c[i] = t[i] + b[i];
}

kernel void both(int n, float k, global const float *a, global float *t, global const float *b, global float *c)
{
    scale(n, k, a, t);
    add(n, t, b, c);
}

// CHECK: if ([[ONE:[a-z_0-9]+]] & [[OTHER:[a-z_0-9]+]]) {
// CHECK-NEXT: float [[VALUE:[a-z_0-9]+]] = k * a[i];
// CHECK: t[i] = [[VALUE]];
// CHECK: c[i] = [[VALUE]] + b[i];
// CHECK-NOT: = t[

kernel void values(int n, global float *a)
{
    int i = get_global_id(0);
    float x = 1.0f;
    if (i < n)
        x = a[i];
    if (n > i)
        a[i] = x + 1.0f;
    else
        x = 2.0f;
    a[i + n] = x;
}

// VALUES: float x;
// VALUES-NEXT: if (i < n) {
// VALUES-NEXT: x = a[i];
// VALUES-NEXT: a[i] = x + 1.0f;
// VALUES-NEXT: } else {
// VALUES-NEXT: x = 2.0f;
