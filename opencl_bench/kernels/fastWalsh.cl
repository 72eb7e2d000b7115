/*
 * One step of the fast Walsh-Hadamard transform, in place.
 *
 * Origin: AMD APP SDK, FastWalshTransform; written anew. The host launches it for step = 1, 2, 4, ..., n /
 * 2.
 * Threads: 1-D, one work-item per butterfly, so half as many as elements, no guard.
 */
kernel void fastWalsh(global float *elements, uint step)
{
    uint butterfly = get_global_id(0);
    uint first = butterfly / step * step * 2 + butterfly % step;
    uint second = first + step;
    float left = elements[first];
    float right = elements[second];
    elements[first] = left + right;
    elements[second] = left - right;
}
