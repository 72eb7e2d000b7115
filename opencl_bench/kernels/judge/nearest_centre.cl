/*
 * The nearest of some centres to each point, the first of several that are equally near.
 *
 * Kind: clustering (k-means); written for the second judge.
 * Threads: 1-D, one work-item per point, guarded. A coordinate of all points stands together; centres are uniform.
 */
kernel void nearest_centre(global const float *points, constant float *centres, global int *nearest, int count,
                           int centre_count, int coordinates)
{
    int point = get_global_id(0);
    if (point >= count)
        return;
    int best = 0;
    float least = FLT_MAX;
    for (int centre = 0; centre < centre_count; centre++) {
        float distance = 0.0f;
        for (int axis = 0; axis < coordinates; axis++) {
            float difference = points[axis * count + point] - centres[centre * coordinates + axis];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = centre;
        }
    }
    nearest[point] = best;
}
