// Vectors: swizzles, comparisons, selections, conversions, wide loads and stores.
typedef struct {
    float4 position;
    uchar4 colour;
} Particle;
kernel void vectors(global Particle *particles, global float *values, global uint4 *masks, float4 shift) {
    const int id = get_global_id(0);
    Particle particle = particles[id];
    particle.position = particle.position.wzyx + shift;
    const int4 positive = particle.position > (float4)(0.0f);
    masks[id] = as_uint4(positive) ^ convert_uint4(particle.colour);
    particle.colour = convert_uchar4_sat(convert_float4(particle.colour) * 1.7f);
    float3 triple = vload3(id, values);
    triple = select(triple, triple.zxy, isless(triple, (float3)(0.25f)));
    vstore3(triple * dot(particle.position, shift), id, values);
    particle.position.s1 = any(positive) ? triple.x : clamp(triple.y, -1.0f, 1.0f);
    particles[id] = particle;
}
