// The Mandelbrot set: a trip count that depends on the data, with a break inside.
kernel void mandelbrot(global uchar4 *pixels, global int *trips, float left, float top, float step, int limit) {
    const int x = get_global_id(0), y = get_global_id(1);
    const float2 c = (float2)(left + step * x, top + step * y);
    float2 z = c;
    int trip = 0;
    for (; trip < limit; ++trip) {
        const float2 square = z * z;
        if (square.x + square.y > 4.0f) {
            break;
        }
        z = (float2)(square.x - square.y + c.x, 2.0f * z.x * z.y + c.y);
    }
    const int place = y * get_global_size(0) + x;
    trips[place] = trip;
    pixels[place] = trip == limit ? (uchar4)(0, 0, 0, 255) : convert_uchar4((int4)(trip * 3, trip * 5, trip * 7, 255) & 255);
}
