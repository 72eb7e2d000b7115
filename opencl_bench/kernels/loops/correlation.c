/* Correlations of the columns of a table (PolyBench). */
#include <math.h>

void correlation(int n, int m, float data[restrict n][m], float corr[restrict m][m], float mean[restrict m],
                 float dev[restrict m])
{
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        mean[j] = 0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= n;
    }
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        dev[j] = 0;
        for (int i = 0; i < n; i++)
            dev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        dev[j] = sqrtf(dev[j] / n);
        dev[j] = dev[j] <= 0.1f ? 1.0f : dev[j];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] = (data[i][j] - mean[j]) / (sqrtf(n) * dev[j]);
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += data[k][i] * data[k][j];
            corr[i][j] = sum;
            corr[j][i] = sum;
        }
}
