/* The vector F^H d of a reconstruction from magnetic resonance (Baskaran et al. 2007, section 6). */
#include <math.h>

void mri_fhd(int samples, int voxels, const float *restrict kx, const float *restrict ky, const float *restrict kz,
             const float *restrict real, const float *restrict imaginary, const float *restrict x,
             const float *restrict y, const float *restrict z, float *restrict f_real, float *restrict f_imaginary)
{
    #pragma omp parallel for
    for (int v = 0; v < voxels; v++)
        for (int k = 0; k < samples; k++) {
            const float angle = 6.2831853f * (kx[k] * x[v] + ky[k] * y[v] + kz[k] * z[v]);
            const float c = cosf(angle), s = sinf(angle);
            f_real[v] += real[k] * c - imaginary[k] * s;
            f_imaginary[v] += imaginary[k] * c + real[k] * s;
        }
}
