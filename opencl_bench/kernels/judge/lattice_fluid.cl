/*
 * A step of a fluid on a lattice of nine velocities (D2Q9): each cell gathers what streams to it, and relaxes
 * towards equilibrium; a solid cell sends everything back.
 *
 * Kind: lattice Boltzmann; written for the second judge.
 * Threads: 2-D, one work-item per cell, the lattice is periodic and exactly the NDRange. Every velocity has a plane
 * of its own.
 */
kernel void lattice_fluid(global const float *before, global float *after, global const uchar *solid, float omega)
{
    const int width = get_global_size(0);
    const int height = get_global_size(1);
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int cells = width * height;
    const int cell = y * width + x;

    const int west = (x + width - 1) % width, east = (x + 1) % width;
    const int south = ((y + height - 1) % height) * width, north = ((y + 1) % height) * width;
    const int row = y * width;

    float rest = before[cell];
    float to_east = before[cells + row + west];
    float to_north = before[2 * cells + south + x];
    float to_west = before[3 * cells + row + east];
    float to_south = before[4 * cells + north + x];
    float to_north_east = before[5 * cells + south + west];
    float to_north_west = before[6 * cells + south + east];
    float to_south_west = before[7 * cells + north + east];
    float to_south_east = before[8 * cells + north + west];

    if (solid[cell]) {
        after[cell] = rest;
        after[cells + cell] = to_west;
        after[2 * cells + cell] = to_south;
        after[3 * cells + cell] = to_east;
        after[4 * cells + cell] = to_north;
        after[5 * cells + cell] = to_south_west;
        after[6 * cells + cell] = to_south_east;
        after[7 * cells + cell] = to_north_east;
        after[8 * cells + cell] = to_north_west;
    } else {
        float density = rest + to_east + to_north + to_west + to_south + to_north_east + to_north_west
                      + to_south_west + to_south_east;
        float u = (to_east - to_west + to_north_east - to_north_west - to_south_west + to_south_east) / density;
        float v = (to_north - to_south + to_north_east + to_north_west - to_south_west - to_south_east) / density;
        float base = 1.0f - 1.5f * (u * u + v * v);
        float side = omega * density / 9.0f, corner = omega * density / 36.0f, kept = 1.0f - omega;
        float sum = u + v, difference = u - v;

        after[cell] = kept * rest + 4.0f * side * base;
        after[cells + cell] = kept * to_east + side * (base + 3.0f * u + 4.5f * u * u);
        after[2 * cells + cell] = kept * to_north + side * (base + 3.0f * v + 4.5f * v * v);
        after[3 * cells + cell] = kept * to_west + side * (base - 3.0f * u + 4.5f * u * u);
        after[4 * cells + cell] = kept * to_south + side * (base - 3.0f * v + 4.5f * v * v);
        after[5 * cells + cell] = kept * to_north_east + corner * (base + 3.0f * sum + 4.5f * sum * sum);
        after[6 * cells + cell] = kept * to_north_west
                                + corner * (base - 3.0f * difference + 4.5f * difference * difference);
        after[7 * cells + cell] = kept * to_south_west + corner * (base - 3.0f * sum + 4.5f * sum * sum);
        after[8 * cells + cell] = kept * to_south_east
                                + corner * (base + 3.0f * difference + 4.5f * difference * difference);
    }
}
