// Sparse matrix times vector, rows in compressed form; an empty row is skipped early.
kernel void sparse_rows(global const float *entries, global const int *columns, global const int *row_starts,
                        global const float *vector, global float *product, int rows) {
    const int row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    const int first = row_starts[row], last = row_starts[row + 1];
    if (first == last) {
        product[row] = 0.0f;
        return;
    }
    float sum = 0.0f;
    for (int i = first; i < last; ++i) {
        const int column = columns[i];
        if (column < 0) {
            continue;
        }
        sum += entries[i] * vector[column];
    }
    product[row] = sum;
}
