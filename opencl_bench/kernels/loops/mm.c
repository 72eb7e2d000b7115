/* C = A B, with flat indices as most programs have them. */
#define AT(i, j, columns) ((i) * (columns) + (j))

void mm(int n, int m, int l, const float *restrict a, const float *restrict b, float *restrict c)
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int k = 0; k < l; k++)
                sum += a[AT(i, k, l)] * b[AT(k, j, m)];
            c[AT(i, j, m)] = sum;
        }
}
