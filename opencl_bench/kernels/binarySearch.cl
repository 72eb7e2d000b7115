/*
 * One probe of a binary search: which of many sorted sub-ranges holds the key.
 *
 * Origin: AMD APP SDK, BinarySearch; written anew.
 * Threads: 1-D, one work-item per sub-range, no guard. A sub-range is given by its first and last element.
 * Nearly all work-items return early; the one that holds the key writes output[0] = (sub-range, unchanged,
 * unchanged, 1).
 */
kernel void binarySearch(global uint4 *output, global const uint2 *bounds, uint key)
{
    uint range = get_global_id(0);
    uint2 bound = bounds[range];
    if (bound.x > key || bound.y < key)
        return;
    output[0].x = range;
    output[0].w = 1;
}
