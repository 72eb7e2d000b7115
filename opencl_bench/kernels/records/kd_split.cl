/*
 * Splits the primitives of a node of a k-d tree by a plane: each goes to the left, to the right, or to both, its
 * bounds clipped.
 *
 * Kind: construction of k-d trees, after the benchmark KD-Tree of Weber et al. (PMBS 2015).
 * Threads: 1-D, one work-item for each primitive, guarded. Where it goes to was found by a scan before.
 */
typedef struct {
    float low_x, low_y, low_z;
    float high_x, high_y, high_z;
    uint primitive;
    uchar level;
} Bounds;

typedef struct {
    uint left;
    uint right;
} Place;

kernel void kd_split(global const Bounds *bounds, global const Place *places, uint count, uint axis, float plane,
                     global Bounds *left, global Bounds *right)
{
    uint item = get_global_id(0);
    if (item >= count)
        return;
    Bounds own = bounds[item];
    own.level += 1;
    float low = axis == 0 ? own.low_x : axis == 1 ? own.low_y : own.low_z;
    float high = axis == 0 ? own.high_x : axis == 1 ? own.high_y : own.high_z;
    if (low < plane) {
        Bounds part = own;
        if (axis == 0)
            part.high_x = fmin(own.high_x, plane);
        else if (axis == 1)
            part.high_y = fmin(own.high_y, plane);
        else
            part.high_z = fmin(own.high_z, plane);
        left[places[item].left] = part;
    }
    if (high >= plane) {
        Bounds part = own;
        if (axis == 0)
            part.low_x = fmax(own.low_x, plane);
        else if (axis == 1)
            part.low_y = fmax(own.low_y, plane);
        else
            part.low_z = fmax(own.low_z, plane);
        right[places[item].right] = part;
    }
}
