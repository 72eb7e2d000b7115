/* x1 += A y1, x2 += A^T y2 (PolyBench). */
void mvt(int n, const float a[restrict n][n], const float y1[restrict n], const float y2[restrict n],
         float x1[restrict n], float x2[restrict n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += a[i][j] * y1[j];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] += a[j][i] * y2[j];
}
