// Members of packed structures are no neighbours of each other.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q | filecheck %s

typedef struct __attribute__((packed)) { uchar kind; float value; } entry_t;

kernel void copy(global const entry_t *from, global entry_t *to)
{
    int x = get_global_id(0);
    to[x].value = from[x].value;
}

// CHECK: typedef struct __attribute__((packed)) {
// CHECK: } entry_t;
// CHECK-NOT: vload
// CHECK: to[x_4].value =
// CHECK-NOT: vstore
