/*
 * Particles in a box, moved by a step of time: gravity, drag, and a bounce off the floor and the walls.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 1-D, one work-item per particle. A structure of arrays: five loads and stores beside each other, in
 * place; the bounces are divergent.
 */
kernel void particles(global float *x, global float *y, global float *speed_x, global float *speed_y,
                      global float *energy, uint particle_count, float width, float time_step, float drag)
{
    uint index = get_global_id(0);
    if (index >= particle_count)
        return;

    float along = speed_x[index] * (1.0f - drag * time_step);
    float up = speed_y[index] * (1.0f - drag * time_step) - 9.81f * time_step;
    float new_x = x[index] + along * time_step;
    float new_y = y[index] + up * time_step;
    if (new_y < 0.0f) {
        new_y = -new_y;
        up = -0.8f * up;
    }
    if (new_x < 0.0f || new_x > width) {
        new_x = clamp(new_x, 0.0f, width);
        along = -along;
    }
    x[index] = new_x;
    y[index] = new_y;
    speed_x[index] = along;
    speed_y[index] = up;
    energy[index] = 0.5f * (along * along + up * up) + 9.81f * new_y;
}
