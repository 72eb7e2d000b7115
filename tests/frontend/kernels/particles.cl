// An array of structures moved one step; the settings are a structure passed by value.
typedef struct {
    float4 position;
    float4 velocity;
    int cell;
    int alive;
} Particle;

typedef struct {
    float4 gravity;
    float step;
    float size;
    int cells;
} Settings;

kernel void particles(global Particle *all, const Settings settings) {
    Particle particle = all[get_global_id(0)];
    if (!particle.alive) {
        return;
    }
    particle.velocity += settings.gravity * settings.step;
    particle.position += particle.velocity * settings.step;
    if (particle.position.y < 0.0f) {
        particle.position.y = -particle.position.y;
        particle.velocity.y = -0.5f * particle.velocity.y;
    }
    const int3 cell = convert_int3_rtn(particle.position.xyz / settings.size);
    particle.cell = clamp(cell.x + settings.cells * (cell.y + settings.cells * cell.z), 0, 4095);
    all[get_global_id(0)] = particle;
}
