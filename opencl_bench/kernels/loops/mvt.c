/* x1 += A y1, x2 += A^T y2 (PolyBench). */
void mvt(int n, const float a[restrict n][n], const float y1[restrict n], const float y2[restrict n],
         float x1[restrict n], float x2[restrict n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        #pragma omp simd reduction(+:sum)
        for (int j = 0; j < n; j++)
            sum += a[i][j] * y1[j];
        x1[i] += sum;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        #pragma omp simd reduction(+:sum)
        for (int j = 0; j < n; j++)
            sum += a[j][i] * y2[j];
        x2[i] += sum;
    }
}
