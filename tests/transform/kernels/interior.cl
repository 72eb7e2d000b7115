// A two-dimensional interior test around a small stencil; the border is written, too.
kernel void interior(global const int *image, global int *result, int width, int height) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int centre = y * width + x;
    if (x >= 1 && x < width - 1 && y >= 1 && y < height - 1) {
        int sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) sum += image[centre + dy * width + dx] * (dx * 2 + dy);
        result[centre] = sum;
    } else {
        result[centre] = -image[centre];
    }
}
