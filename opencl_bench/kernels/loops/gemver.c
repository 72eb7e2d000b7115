/* A += u1 v1^T + u2 v2^T; x += beta A^T y + z; w += alpha A x (PolyBench). */
void gemver(int n, float alpha, float beta, float a[restrict n][n], const float u1[restrict n],
            const float v1[restrict n], const float u2[restrict n], const float v2[restrict n],
            float w[restrict n], float x[restrict n], const float y[restrict n], const float z[restrict n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        #pragma omp simd reduction(+:sum)
        for (int j = 0; j < n; j++)
            sum += beta * a[j][i] * y[j];
        x[i] += sum;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] += z[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        #pragma omp simd reduction(+:sum)
        for (int j = 0; j < n; j++)
            sum += alpha * a[i][j] * x[j];
        w[i] += sum;
    }
}
