// Images are read and written through their builtins, at each replica's own coordinates.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void brighter(read_only image2d_t from, write_only image2d_t to, sampler_t how)
{
    int2 place = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, place, read_imagef(from, how, place) * 2.0f);
}

// CHECK: kernel void brighter(read_only image2d_t from, write_only image2d_t to, sampler_t how)
// CHECK: int2 place = (int2)(
// CHECK: int2 place_2 = (int2)(
// CHECK: = read_imagef(from, how, place_2);
// CHECK: write_imagef(to, place, read_imagef(from, how, place) * 2.0f);
// CHECK: write_imagef(to, place_2,
