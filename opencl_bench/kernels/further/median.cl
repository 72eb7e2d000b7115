/*
 * The median of the 3 x 3 pixels around each pixel of an 8-bit image, by a network of minima and maxima.
 *
 * Origin: written for the study of tuned programs; the network is that of Devillard's "Fast median search" (1998).
 * Threads: 2-D, one work-item per pixel; dimension 0 is the column. Pixels of the border are copied (divergent
 * guard).
 */
#define SORT(smaller, larger)                \
    {                                        \
        uchar least = min(smaller, larger);  \
        larger = max(smaller, larger);       \
        smaller = least;                     \
    }

kernel void median(global const uchar *image, global uchar *filtered, int width, int height)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    int centre = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        filtered[centre] = image[centre];
        return;
    }
    uchar a = image[centre - width - 1], b = image[centre - width], c = image[centre - width + 1];
    uchar d = image[centre - 1], e = image[centre], f = image[centre + 1];
    uchar g = image[centre + width - 1], h = image[centre + width], i = image[centre + width + 1];
    SORT(b, c) SORT(e, f) SORT(h, i)
    SORT(a, b) SORT(d, e) SORT(g, h)
    SORT(b, c) SORT(e, f) SORT(h, i)
    SORT(a, d) SORT(f, i) SORT(e, h)
    SORT(d, g) SORT(b, e) SORT(c, f)
    SORT(e, h) SORT(e, c) SORT(g, e)
    SORT(e, c)
    filtered[centre] = e;
}
