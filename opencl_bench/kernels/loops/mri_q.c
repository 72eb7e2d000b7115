/* The matrix Q of a reconstruction from magnetic resonance (Parboil; Baskaran et al. 2007, section 6). */
#include <math.h>

typedef struct {
    int samples, voxels;
    const float *real, *imaginary;   /* of the samples */
    const float *kx, *ky, *kz;
    const float *x, *y, *z;          /* of the voxels */
    float *magnitude, *q_real, *q_imaginary;
} problem;

void mri_q(const problem *p)
{
    const int samples = p->samples, voxels = p->voxels;
    #pragma omp parallel for
    for (int k = 0; k < samples; k++)
        p->magnitude[k] = p->real[k] * p->real[k] + p->imaginary[k] * p->imaginary[k];
    #pragma omp parallel for
    for (int v = 0; v < voxels; v++) {
        float real = 0, imaginary = 0;
        for (int k = 0; k < samples; k++) {
            const float angle = 6.2831853f * (p->kx[k] * p->x[v] + p->ky[k] * p->y[v] + p->kz[k] * p->z[v]);
            real += p->magnitude[k] * cosf(angle);
            imaginary += p->magnitude[k] * sinf(angle);
        }
        p->q_real[v] = real;
        p->q_imaginary[v] = imaginary;
    }
}
