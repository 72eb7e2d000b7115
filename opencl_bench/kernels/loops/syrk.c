/* The lower triangle of C = alpha A A^T + beta C (PolyBench). */
void syrk(int n, int m, float alpha, float beta, const float a[restrict n][m], float c[restrict n][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            c[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++)
                c[i][j] += alpha * a[i][k] * a[j][k];
    }
}
