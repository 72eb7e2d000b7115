// With --order 1,0 a matrix of 48 rows of 64 elements lies transposed, however the kernel computes its index. Of so
// few elements, indices are divided as numbers of 32 bits.
//
// RUN: coarsen apply %s --factor 2 --order image=1,0 --shape image=48,64 2>&1 | filecheck %s

kernel void clear(global float *image)
{
    size_t i = get_global_id(0);
    image[i] = 0;
}

// CHECK: note: pack the buffer for image as aos in the order 1,0: just 48 x 64 elements '4: 4@0', 12288 bytes
// CHECK: uint [[INDEX:[a-z_0-9]+]] = global_id_x;
// CHECK: [[INDEX]] / 64
// CHECK: [[INDEX]] % 64
// CHECK: * 48
