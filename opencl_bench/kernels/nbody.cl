/*
 * One time step of all-pairs gravity.
 *
 * Origin: AMD APP SDK, NBody; written anew.
 * Threads: 1-D, one work-item per body, no guard. A position is (x, y, z, mass). All work-items read the
 * same body at the same time (uniform loads); the loop goes in steps of UNROLL_FACTOR bodies, a second loop
 * takes the rest.
 */
#ifndef UNROLL_FACTOR
#define UNROLL_FACTOR 8
#endif

float3 attraction(float4 body, float3 place, float softening_squared)
{
    float3 distance = body.xyz - place;
    float distance_squared = distance.x * distance.x + distance.y * distance.y + distance.z * distance.z;
    float inverse = rsqrt(distance_squared + softening_squared);
    return distance * (body.w * inverse * inverse * inverse);
}

kernel void nbody(global const float4 *positions, global const float4 *velocities, uint body_count,
                  float time_step, float softening_squared,
                  global float4 *new_positions, global float4 *new_velocities)
{
    uint body = get_global_id(0);
    float4 position = positions[body];
    float3 acceleration = (float3)(0.0f);

    uint other = 0;
    while (other + UNROLL_FACTOR < body_count) {
        for (int step = 0; step < UNROLL_FACTOR; ++step, ++other)
            acceleration += attraction(positions[other], position.xyz, softening_squared);
    }
    for (; other < body_count; ++other)
        acceleration += attraction(positions[other], position.xyz, softening_squared);

    float4 velocity = velocities[body];
    position.xyz += velocity.xyz * time_step + acceleration * (0.5f * time_step * time_step);
    velocity.xyz += acceleration * time_step;
    new_positions[body] = position;
    new_velocities[body] = velocity;
}
