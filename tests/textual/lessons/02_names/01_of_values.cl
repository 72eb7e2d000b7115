// The source's names are kept: the first replica's values are called as in the source, those of the others get their
// number.
//
// RUN: coarsen apply %s --factor 3 | filecheck %s

kernel void named(global const float *red, global const float *green, global float *grey)
{
    size_t pixel = get_global_id(0);
    float brightness = 0.3f * red[pixel] + 0.6f * green[pixel];
    float squared = brightness * brightness;
    grey[pixel] = squared + brightness;
}

// CHECK: float brightness = 0.3f * red[global_id_x] + 0.6f * green[global_id_x];
// CHECK: float brightness_2 = 0.3f * red[global_id_x_2] + 0.6f * green[global_id_x_2];
// CHECK: float brightness_3 = 0.3f * red[global_id_x_3] + 0.6f * green[global_id_x_3];
// CHECK: float squared = brightness * brightness;
// CHECK: grey[global_id_x_3] = squared_3 + brightness_3;
