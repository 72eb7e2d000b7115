/*
 * A time step of gravity among bodies, each a record of place, mass, velocity, number and kind: 33 bytes of data in 36.
 *
 * Kind: particles as records.
 * Threads: 1-D, one work-item for each body, guarded. Bodies of kind 0 are pulled but do not pull.
 */
typedef struct {
    float x, y, z;
    float mass;
    float velocity_x, velocity_y, velocity_z;
    uint number;
    uchar kind;
} Body;

kernel void nbody_records(global const Body *before, global Body *after, uint count, float step, float softening)
{
    uint item = get_global_id(0);
    if (item >= count)
        return;
    Body own = before[item];
    float pull_x = 0.0f, pull_y = 0.0f, pull_z = 0.0f;
    for (uint other = 0; other < count; other++) {
        float x = before[other].x - own.x, y = before[other].y - own.y, z = before[other].z - own.z;
        float squared = x * x + y * y + z * z + softening;
        float mass = before[other].kind ? before[other].mass : 0.0f;
        float weight = mass / (squared * sqrt(squared));
        pull_x += weight * x;
        pull_y += weight * y;
        pull_z += weight * z;
    }
    own.velocity_x += pull_x * step;
    own.velocity_y += pull_y * step;
    own.velocity_z += pull_z * step;
    own.x += own.velocity_x * step;
    own.y += own.velocity_y * step;
    own.z += own.velocity_z * step;
    after[item] = own;
}
