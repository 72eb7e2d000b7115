// Names of arguments are part of a kernel's interface; those of structures and their members are the source's own,
// which clang hands on only in its debug information.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

typedef struct { float mass; float4 place; } body_t;

kernel void move(global body_t *bodies, float4 by)
{
    bodies[get_global_id(0)].place += by * bodies[get_global_id(0)].mass;
}

// CHECK: typedef struct {
// CHECK-NEXT: float mass;
// CHECK-NEXT: float4 place;
// CHECK-NEXT: } body_t;
// CHECK: kernel void move(global body_t* bodies, float4 by)
// CHECK: bodies[global_id_x].place += by *
// CHECK: bodies[global_id_x_2].place =
