// How far a loop is to be unrolled is a hint to the compiler behind: it stays with every form that the loop takes, and
// with its copies. A count of 1 says not to unroll, no count leaves it to the compiler.
//
// RUN: coarsen apply %s -k shared --factor 2 | filecheck %s --check-prefix=SHARED
// RUN: coarsen apply %s -k own --factor 2 --lock-step always | filecheck %s --check-prefix=LOCK
// RUN: coarsen apply %s -k own --factor 2 --lock-step never | filecheck %s --check-prefix=COPIES
// RUN: coarsen apply %s -k skipping --factor 2 | filecheck %s --check-prefix=SPLIT

kernel void shared(global float *sums, global const float *data, int count)
{
    float sum = 0.0f;
    __attribute__((opencl_unroll_hint(4)))
    for (int i = 0; i < count; i++)
        sum += data[i];
    int place = 0;
#pragma unroll
    do {
        sum *= data[place++];
    } while (sum < 9.0f);
#pragma nounroll
    while (sum > data[place])
        place++;
    sums[get_global_id(0)] = sum + place;
}

// SHARED: __attribute__((opencl_unroll_hint(4)))
// SHARED-NEXT: for (int i = 0;
// SHARED: __attribute__((opencl_unroll_hint))
// SHARED-NEXT: while (true) {
// SHARED: __attribute__((opencl_unroll_hint(1)))
// SHARED-NEXT: while (

// The loop that both run as long as both stay in it, then what is left of each.

kernel void own(global float *sums, global const int *counts)
{
    int item = get_global_id(0);
    float sum = 0.0f;
    __attribute__((opencl_unroll_hint(4)))
    for (int i = 0; i < counts[item]; i++)
        sum += sums[i];
    sums[item] = sum;
}

// LOCK-COUNT-3: __attribute__((opencl_unroll_hint(4)))
// LOCK-NOT: unroll_hint

// COPIES: __attribute__((opencl_unroll_hint(4)))
// COPIES-NEXT: for
// COPIES: __attribute__((opencl_unroll_hint(4)))
// COPIES-NEXT: for
// COPIES-NOT: unroll_hint

// What is left out by `continue` is a loop inside of the loop, which is one in the source.

kernel void skipping(global float *sums, global const float *data, int count)
{
    float sum = 0.0f;
    int i = 0;
    __attribute__((opencl_unroll_hint(2)))
    while (i < count) {
        if (data[i] > 3.0f) {
            i += 2;
            continue;
        }
        sum += data[i];
        i++;
    }
    sums[get_global_id(0)] = sum;
}

// SPLIT: __attribute__((opencl_unroll_hint(2)))
// SPLIT-NEXT: while (true) {
// SPLIT-NOT: unroll_hint
