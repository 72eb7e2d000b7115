// Along which dimension an id is asked for is known only at run time, so that it is asked for where it stands, and each
// replica answers otherwise. One text can't do that for all turns: the replicas have a copy each.
//
// RUN: coarsen apply %s --factor 8 --fast-path always | filecheck %s

kernel void along_one(global const float *in, global float *out, uint count, uint along, float scale)
{
    uint i = get_global_id(0);
    if (i < count)
        out[i] = in[get_global_id(along)] * sqrt(scale) + in[i + 1] * cos(scale) + in[i + 2];
}

// CHECK: } else if
// CHECK-NOT: replica
// CHECK-COUNT-8: along == 0 ?
// CHECK-NOT: replica
