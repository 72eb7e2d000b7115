/* x = A y: neighbouring rows stand far apart in memory (Baskaran et al. 2007, section 6). */
void mv(int n, const float a[restrict n][n], const float y[restrict n], float x[restrict n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        #pragma omp simd reduction(+:sum)
        for (int j = 0; j < n; j++)
            sum += a[i][j] * y[j];
        x[i] = sum;
    }
}
