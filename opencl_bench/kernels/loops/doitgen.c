/* Each row of A times C4, in place (PolyBench): a loop of launches over its first two dimensions. */
void doitgen(int nr, int nq, int np, float a[restrict nr][nq][np], const float c4[restrict np][np],
             float sum[restrict np])
{
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            #pragma omp parallel for
            for (int p = 0; p < np; p++) {
                sum[p] = 0;
                for (int s = 0; s < np; s++)
                    sum[p] += a[r][q][s] * c4[s][p];
            }
            #pragma omp parallel for
            for (int p = 0; p < np; p++)
                a[r][q][p] = sum[p];
        }
}
