/*
 * A step of a fluid on a lattice of nineteen velocities (D3Q19), each cell a record of nineteen fields and a flag: 77
 * bytes of data in 80. A cell gathers what streams to it and relaxes; a solid one sends everything back.
 *
 * Kind: lattice Boltzmann as records.
 * Threads: 3-D, one work-item for each cell, guarded; the lattice is periodic. Fields are named by where their particles
 * go: east is +x, north +y, top +z.
 */
typedef struct {
    float rest;
    float east, west, north, south, top, bottom;
    float north_east, north_west, south_east, south_west;
    float top_east, top_west, bottom_east, bottom_west;
    float top_north, top_south, bottom_north, bottom_south;
    uchar solid;
} Cell;

/* The cell that lies so many steps away. */
#define CELL(X, Y, Z) before[(((z + depth + (Z)) % depth) * height + (y + height + (Y)) % height) * width \
                             + (x + width + (X)) % width]

/* The two opposite velocities of a pair after relaxation, or what a wall sends back. */
#define PAIR(FORTH, BACK, WEIGHT, ALONG)                                       \
    {                                                                          \
        float shared = WEIGHT * density * (1.0f - 1.5f * speed + 4.5f * (ALONG) * (ALONG)); \
        float odd = WEIGHT * density * 3.0f * (ALONG);                         \
        after[cell].FORTH = solid ? BACK : FORTH + omega * (shared + odd - FORTH); \
        after[cell].BACK = solid ? FORTH : BACK + omega * (shared - odd - BACK); \
    }

kernel void lattice_boltzmann(global const Cell *before, global Cell *after, uint width, uint height, uint depth,
                              float omega)
{
    const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= width || y >= height || z >= depth)
        return;
    const uint cell = (z * height + y) * width + x;

    float rest = before[cell].rest;
    float east = CELL(-1, 0, 0).east, west = CELL(1, 0, 0).west;
    float north = CELL(0, -1, 0).north, south = CELL(0, 1, 0).south;
    float top = CELL(0, 0, -1).top, bottom = CELL(0, 0, 1).bottom;
    float north_east = CELL(-1, -1, 0).north_east, south_west = CELL(1, 1, 0).south_west;
    float north_west = CELL(1, -1, 0).north_west, south_east = CELL(-1, 1, 0).south_east;
    float top_east = CELL(-1, 0, -1).top_east, bottom_west = CELL(1, 0, 1).bottom_west;
    float top_west = CELL(1, 0, -1).top_west, bottom_east = CELL(-1, 0, 1).bottom_east;
    float top_north = CELL(0, -1, -1).top_north, bottom_south = CELL(0, 1, 1).bottom_south;
    float top_south = CELL(0, 1, -1).top_south, bottom_north = CELL(0, -1, 1).bottom_north;

    float eastward = east + north_east + south_east + top_east + bottom_east;
    float westward = west + north_west + south_west + top_west + bottom_west;
    float northward = north + north_east + north_west + top_north + bottom_north;
    float southward = south + south_east + south_west + top_south + bottom_south;
    float upward = top + top_east + top_west + top_north + top_south;
    float downward = bottom + bottom_east + bottom_west + bottom_north + bottom_south;
    float density = rest + eastward + westward + north + south + top + bottom + top_north + top_south
                  + bottom_north + bottom_south;
    float u = (eastward - westward) / density, v = (northward - southward) / density;
    float w = (upward - downward) / density;
    float speed = u * u + v * v + w * w;

    uchar solid = before[cell].solid;
    after[cell].solid = solid;
    after[cell].rest = solid ? rest : rest + omega * (density / 3.0f * (1.0f - 1.5f * speed) - rest);
    PAIR(east, west, (1.0f / 18.0f), u)
    PAIR(north, south, (1.0f / 18.0f), v)
    PAIR(top, bottom, (1.0f / 18.0f), w)
    PAIR(north_east, south_west, (1.0f / 36.0f), u + v)
    PAIR(south_east, north_west, (1.0f / 36.0f), u - v)
    PAIR(top_east, bottom_west, (1.0f / 36.0f), u + w)
    PAIR(bottom_east, top_west, (1.0f / 36.0f), u - w)
    PAIR(top_north, bottom_south, (1.0f / 36.0f), v + w)
    PAIR(bottom_north, top_south, (1.0f / 36.0f), v - w)
}
