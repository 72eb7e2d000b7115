// Arithmetic of chars is done in ints, as C says, and cut where it is stored.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void invert(global uchar *pixels)
{
    size_t i = get_global_id(0);
    pixels[i] = 255 - pixels[i];
}

// CHECK: uchar [[SECOND:[a-z_0-9]+]] = pixels[global_id_x_2];
// CHECK: pixels[global_id_x] = 255 - pixels[global_id_x];
// CHECK: pixels[global_id_x_2] = 255 - [[SECOND]];
