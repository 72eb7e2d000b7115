/*
 * A sparse matrix by a vector, the matrix in the format ELLPACK: every row has room for as many entries, and those
 * of the same place lie beside each other for all rows.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 1-D, one work-item per row; its own number of entries (divergent loop), indirect loads of the vector.
 */
kernel void ellSpmv(global const float *entries, global const int *columns, global const int *lengths,
                    global const float *vector, global float *result, int rows)
{
    int row = get_global_id(0);
    if (row >= rows)
        return;

    float sum = 0.0f;
    int length = lengths[row];
    for (int k = 0; k < length; ++k)
        sum += entries[k * rows + row] * vector[columns[k * rows + row]];
    result[row] = sum;
}
