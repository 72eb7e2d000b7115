/*
 * Dices bicubic Bezier patches into grids of vertices, each with its normal.
 *
 * Kind: the dicing stage of a Reyes renderer, after the benchmark Reyes of Weber et al. (PMBS 2015).
 * Threads: 3-D, (column, row, patch), columns and rows guarded. A patch has 16 control points, row by row; a vertex has
 * 27 bytes of data in 28.
 */
typedef struct {
    float x, y, z;
} Point;

typedef struct {
    float x, y, z;
    float normal_x, normal_y, normal_z;
    ushort patch;
    uchar is_edge;
} Vertex;

/* A point of a cubic curve and its derivative, by the algorithm of de Casteljau. */
static void curve(float a, float b, float c, float d, float at, float *place, float *slope)
{
    float ab = mix(a, b, at), bc = mix(b, c, at), cd = mix(c, d, at);
    float first = mix(ab, bc, at), second = mix(bc, cd, at);
    *place = mix(first, second, at);
    *slope = 3.0f * (second - first);
}

/* A coordinate of the surface, with its derivatives along u and v, from the coordinates on and slopes of four rows. */
#define SURFACE(COORDINATE)                                                                            \
    for (uint k = 0; k < 4; k++)                                                                       \
        curve(points[4 * k].COORDINATE, points[4 * k + 1].COORDINATE, points[4 * k + 2].COORDINATE,    \
              points[4 * k + 3].COORDINATE, u, &places[k], &slopes[k]);                                \
    float COORDINATE, u_##COORDINATE, v_##COORDINATE;                                                  \
    curve(slopes[0], slopes[1], slopes[2], slopes[3], v, &u_##COORDINATE, &v_##COORDINATE);            \
    curve(places[0], places[1], places[2], places[3], v, &COORDINATE, &v_##COORDINATE)

kernel void reyes_dice(global const Point *control, global Vertex *vertices, uint columns, uint rows)
{
    uint column = get_global_id(0), row = get_global_id(1), patch = get_global_id(2);
    if (column >= columns || row >= rows)
        return;
    global const Point *points = control + 16 * patch;
    float u = (float)column / (float)(columns - 1), v = (float)row / (float)(rows - 1);
    float places[4], slopes[4];
    SURFACE(x);
    SURFACE(y);
    SURFACE(z);

    global Vertex *vertex = &vertices[(patch * rows + row) * columns + column];
    vertex->x = x;
    vertex->y = y;
    vertex->z = z;
    vertex->normal_x = u_y * v_z - u_z * v_y;
    vertex->normal_y = u_z * v_x - u_x * v_z;
    vertex->normal_z = u_x * v_y - u_y * v_x;
    vertex->patch = patch;
    vertex->is_edge = column == 0 || row == 0 || column == columns - 1 || row == rows - 1;
}
