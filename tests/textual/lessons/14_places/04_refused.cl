// An array that the kernel writes can't be read as unchanging; nor one of which an address goes round a loop.
//
// RUN: not coarsen apply %s --factor 1 --place to=constant 2>&1 | filecheck %s
// RUN: not coarsen apply %s --factor 1 --place from=noncoherent 2>&1 | filecheck %s --check-prefix ESCAPES
// RUN: not coarsen apply %s --factor 1 --place from=image 2>&1 | filecheck %s --check-prefix IMAGE

kernel void walk(global float *to, global const float *from)
{
    for (global const float *p = from; *p > 0; ++p)
        to[get_global_id(0)] += *p;
}

// CHECK: 04_refused.cl:10:{{[0-9]+}}: to is written here; only an array that the kernel only reads can be copied or placed [place-not-read-only]
// ESCAPES: 04_refused.cl:9:{{[0-9]+}}: an address in from is used by 'phi'{{.*}} [place-pointer-escapes]
// IMAGE: error: image is not offered
