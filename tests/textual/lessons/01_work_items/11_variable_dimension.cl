// The dimension that an id is asked for may be known only at run time: then the kernel has to look whether it is the
// coarsened one.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void any_dimension(global int *out, uint dimension)
{
    out[get_global_id(0)] = (int)get_global_id(dimension);
}

// CHECK: ulong [[OTHER:[a-z_0-9]+]] = get_global_id(dimension);
// CHECK: bool [[MATCHES:[a-z_0-9]+]] = dimension == 0;
// CHECK: out[global_id_x] = [[MATCHES]] ? global_id_x : [[OTHER]];
// CHECK: out[global_id_x_2] = [[MATCHES]] ? global_id_x_2 : [[OTHER]];
