// Helpers are inlined, so a kernel may call a function that has the name of its own parameter: the parameter gets a number.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

float decay(float value, int least) { return exp(-value) + max(least, 0); }

kernel void fade(global float *data, float exp, int max)
{
    size_t i = get_global_id(0);
    data[i] = decay(exp * data[i], max);
}

// CHECK: kernel void fade(global float* data, float exp_2, int max_2)
// CHECK: max(max_2, 0)
// CHECK: exp(-value)
