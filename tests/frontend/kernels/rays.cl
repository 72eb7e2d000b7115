// Rays against a few spheres in constant memory: geometric functions and square roots.
kernel void rays(constant float4 *spheres, int count, global const float4 *directions, global float *distances,
                 global float4 *normals) {
    const size_t i = get_global_id(0);
    const float3 direction = normalize(directions[i].xyz);
    float nearest = MAXFLOAT;
    float3 normal = (float3)(0.0f);
    for (int k = 0; k < count; ++k) {
        const float3 centre = spheres[k].xyz;
        const float along = dot(centre, direction);
        const float discriminant = along * along - dot(centre, centre) + spheres[k].w * spheres[k].w;
        if (discriminant >= 0.0f) {
            const float distance = along - sqrt(discriminant);
            if (distance > 0.0f && distance < nearest) {
                nearest = distance;
                normal = (direction * distance - centre) / spheres[k].w;
            }
        }
    }
    distances[i] = nearest;
    normals[i] = (float4)(cross(normal, direction), length(normal));
}
