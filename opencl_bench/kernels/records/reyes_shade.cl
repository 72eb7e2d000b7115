/*
 * Shades the vertices of diced patches: ambient, diffuse and specular light of several lamps.
 *
 * Kind: the shading stage of a Reyes renderer, after the benchmark Reyes of Weber et al. (PMBS 2015).
 * Threads: 2-D, (column, row) of all vertices, both guarded. A vertex has 27 bytes of data in 28, a colour 13 in 16.
 */
typedef struct {
    float x, y, z;
    float normal_x, normal_y, normal_z;
    ushort patch;
    uchar is_edge;
} Vertex;

typedef struct {
    float x, y, z;
    float red, green, blue;
} Lamp;

typedef struct {
    float red, green, blue;
    uchar coverage;
} Colour;

kernel void reyes_shade(global const Vertex *vertices, constant Lamp *lamps, uint lamp_count, global Colour *colours,
                        uint width, uint height)
{
    uint column = get_global_id(0), row = get_global_id(1);
    if (column >= width || row >= height)
        return;
    uint at = row * width + column;
    float3 place = (float3)(vertices[at].x, vertices[at].y, vertices[at].z);
    float3 normal = (float3)(vertices[at].normal_x, vertices[at].normal_y, vertices[at].normal_z);
    normal *= 1.0f / sqrt(dot(normal, normal));
    float3 eye = -place * (1.0f / sqrt(dot(place, place)));

    float3 light = (float3)(0.05f, 0.06f, 0.07f);
    for (uint k = 0; k < lamp_count; k++) {
        float3 towards = (float3)(lamps[k].x, lamps[k].y, lamps[k].z) - place;
        towards *= 1.0f / sqrt(dot(towards, towards));
        float3 between = eye + towards;
        between *= 1.0f / sqrt(dot(between, between));
        float diffuse = fmax(dot(normal, towards), 0.0f), specular = fmax(dot(normal, between), 0.0f);
        specular *= specular;
        specular *= specular;
        specular *= specular;
        light += (float3)(lamps[k].red, lamps[k].green, lamps[k].blue) * (0.7f * diffuse + 0.3f * specular);
    }

    colours[at].red = light.x;
    colours[at].green = light.y;
    colours[at].blue = light.z;
    colours[at].coverage = vertices[at].is_edge ? 128 : 255 - (vertices[at].patch & 15);
}
