/*
 * The Q matrix of a non-Cartesian magnetic resonance imaging reconstruction, for one chunk of k-space
 * samples.
 *
 * Origin: Parboil, mri-q; written anew. The host launches it once for each chunk that fits constant memory,
 * and the sums go on from one launch to the next.
 * Threads: 1-D, one work-item per voxel, no guard; the voxel's place stays in registers. All work-items read
 * the same sample at the same time (uniform loads from constant memory).
 */
#define TWO_PI 6.28318531f

typedef struct {
    float x;
    float y;
    float z;
    float squared_magnitude;
} Sample;

kernel void mriQ(constant Sample *samples, uint sample_count,
                 global const float *voxels_x, global const float *voxels_y, global const float *voxels_z,
                 global float *q_real, global float *q_imaginary)
{
    uint voxel = get_global_id(0);
    float x = voxels_x[voxel];
    float y = voxels_y[voxel];
    float z = voxels_z[voxel];
    float real_sum = q_real[voxel];
    float imaginary_sum = q_imaginary[voxel];

    for (uint sample = 0; sample < sample_count; ++sample) {
        float angle = TWO_PI * (samples[sample].x * x + samples[sample].y * y + samples[sample].z * z);
        real_sum += samples[sample].squared_magnitude * cos(angle);
        imaginary_sum += samples[sample].squared_magnitude * sin(angle);
    }

    q_real[voxel] = real_sum;
    q_imaginary[voxel] = imaginary_sum;
}
