/*
 * A picture of the Mandelbrot set: after how many steps each point leaves the circle of radius 2.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 2-D, one work-item per pixel; dimension 0 is the column. Neighbours need different numbers of steps
 * (divergent loop), and the arithmetic is fixed-point, with 24 bits after the point, so that every device draws the
 * same picture.
 */
#define FRACTION 24

int product(int left, int right)
{
    return (int)(((long)left * right) >> FRACTION);
}

kernel void escapeTime(global ushort *steps, int width, int height, int left, int top, int pixel_size, int most_steps)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    int start_x = left + x * pixel_size;
    int start_y = top + y * pixel_size;
    int real = 0;
    int imaginary = 0;
    int step = 0;
    while (step < most_steps) {
        int real_square = product(real, real);
        int imaginary_square = product(imaginary, imaginary);
        if (real_square + imaginary_square > (4 << FRACTION))
            break;
        imaginary = 2 * product(real, imaginary) + start_y;
        real = real_square - imaginary_square + start_x;
        ++step;
    }
    steps[y * width + x] = (ushort)step;
}
