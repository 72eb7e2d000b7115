// What the same work-item has just stored need not be loaded again, even where another store comes between, if that is surely to
// other bytes. As another type with as many bits it is the same bits.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

struct pair { float first, second; };

kernel void forward(global struct pair *pairs, global float *other, float x)
{
    size_t i = get_global_id(0);
    pairs[i].first = x * i;
    pairs[i].second = x;
    float first = pairs[i].first;
    other[i] = first + 1.0f;
    other[i + 2] = as_float(*(global int *)&other[i] + 1);
}

// CHECK: float [[FIRST:[a-z_0-9]+]] = x * (float)global_id_x;
// CHECK: pairs[global_id_x].first = [[FIRST]];
// CHECK-NOT: = pairs[
// CHECK: float [[SUM:[a-z_0-9]+]] = [[FIRST]] + 1.0f;
// CHECK: other[global_id_x] = [[SUM]];
// CHECK: other[global_id_x + 2] = as_float(as_int([[SUM]]) + 1);
