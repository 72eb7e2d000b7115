/* Heat in three dimensions, from one array to the other and back (PolyBench). */
void heat_3d(int steps, int n, float a[restrict n][n][n], float b[restrict n][n][n])
{
    for (int t = 1; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    b[i][j][k] = 0.125f * (a[i + 1][j][k] - 2.0f * a[i][j][k] + a[i - 1][j][k])
                        + 0.125f * (a[i][j + 1][k] - 2.0f * a[i][j][k] + a[i][j - 1][k])
                        + 0.125f * (a[i][j][k + 1] - 2.0f * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    a[i][j][k] = 0.125f * (b[i + 1][j][k] - 2.0f * b[i][j][k] + b[i - 1][j][k])
                        + 0.125f * (b[i][j + 1][k] - 2.0f * b[i][j][k] + b[i][j - 1][k])
                        + 0.125f * (b[i][j][k + 1] - 2.0f * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
    }
}
