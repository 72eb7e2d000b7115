// Pipes hand out packets in an order that merging would change.
//
// RUN: not coarsen apply %s --factor 2 --cl-std CL2.0 2>&1 | filecheck %s

kernel void reader(read_only pipe int packets, global int *out)
{
    int value;
    if (!read_pipe(packets, &value))
        out[0] = value;
// CHECK: [pipe]
}
