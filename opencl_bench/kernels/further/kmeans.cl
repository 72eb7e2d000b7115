/*
 * The assignment step of k-means: the nearest of the centres for each point, and the square of its distance.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 1-D, one work-item per point. A point's coordinates lie beside each other; those of the centres are
 * uniform.
 */
kernel void kmeans(global const float *points, global const float *centres, global int *nearest,
                   global float *distances, int point_count, int centre_count, int coordinates)
{
    int point = get_global_id(0);
    if (point >= point_count)
        return;

    int best = 0;
    float least = FLT_MAX;
    for (int centre = 0; centre < centre_count; ++centre) {
        float distance = 0.0f;
        for (int k = 0; k < coordinates; ++k) {
            float difference = points[point * coordinates + k] - centres[centre * coordinates + k];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = centre;
        }
    }
    nearest[point] = best;
    distances[point] = least;
}
