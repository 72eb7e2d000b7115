/*
 * Median of the nine bytes around each pixel; outside the picture, the nearest pixel counts.
 *
 * Kind: images; written for the second judge.
 * Threads: 2-D, one work-item per pixel, guarded. The nine are sorted as far as needed by exchanges.
 */
#define EXCHANGE(a, b) { uchar lower = min(a, b); b = max(a, b); a = lower; }

kernel void median_of_nine(global const uchar *image, global uchar *filtered, int width, int height)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int left = max(x - 1, 0), right = min(x + 1, width - 1);
    int above = max(y - 1, 0) * width, below = min(y + 1, height - 1) * width;
    int middle = y * width;

    uchar p0 = image[above + left], p1 = image[above + x], p2 = image[above + right];
    uchar p3 = image[middle + left], p4 = image[middle + x], p5 = image[middle + right];
    uchar p6 = image[below + left], p7 = image[below + x], p8 = image[below + right];

    EXCHANGE(p1, p2) EXCHANGE(p4, p5) EXCHANGE(p7, p8)
    EXCHANGE(p0, p1) EXCHANGE(p3, p4) EXCHANGE(p6, p7)
    EXCHANGE(p1, p2) EXCHANGE(p4, p5) EXCHANGE(p7, p8)
    p3 = max(p0, p3);
    p5 = min(p5, p8);
    EXCHANGE(p4, p7)
    p6 = max(p3, p6);
    p4 = max(p1, p4);
    p2 = min(p2, p5);
    p4 = min(p4, p7);
    EXCHANGE(p4, p2)
    p4 = max(p6, p4);
    p4 = min(p4, p2);
    filtered[middle + x] = p4;
}
