// Names that look like a compiler's own (mul, add, x10) are the user's all the same, in variables and in structures.
//
// RUN: coarsen apply %s --kernel variables --factor 1 | filecheck %s
// RUN: coarsen apply %s --kernel variables --factor 2 | filecheck %s --check-prefix MERGED
// RUN: coarsen apply %s --kernel fields --factor 1 | filecheck %s --check-prefix FIELDS

kernel void variables(global float *out, int n)
{
    int i = get_global_id(0);
    float mul = out[i] * 3.0f, x10 = out[i + 1];
    float add = 0.0f;
    float row16[4];
    for (int j = 0; j < n; ++j) {
        add = add * mul + x10;
        row16[j & 3] = add;
    }
    float sub = add - x10;
    out[i] = sub * sub + mul + row16[n & 3];
}

typedef struct { float add; int x1; int x10; int i; } part_t;

kernel void fields(global part_t *parts)
{
    int id = get_global_id(0);
    parts[id].add = parts[id].x1;
    parts[id].x10 = parts[id].i;
}

// CHECK-DAG: float row16[4];
// CHECK-DAG: int i =
// CHECK-DAG: float mul =
// CHECK-DAG: float x10 =
// CHECK-DAG: float add =
// CHECK: float sub =
//
// MERGED-NOT: source
// MERGED-DAG: {{ i =}}
// MERGED-DAG: {{ i_2 =}}
// MERGED-DAG: {{ mul =}}
// MERGED-DAG: {{ mul_2 =}}
// MERGED-DAG: {{ add =}}
// MERGED-DAG: {{ add_2 =}}
// MERGED: {{ sub =}}
// MERGED: {{ sub_2 =}}
// MERGED-NOT: source
//
// FIELDS: float add;
// FIELDS-NEXT: int x1;
// FIELDS-NEXT: int x10;
// FIELDS-NEXT: int i;
