// A guard by size around everything, a uniform loop inside the divergent region, several results out of it.
kernel void guarded_rows(global const int *data, global int *result, int rows, int columns) {
    const int row = get_global_id(0);
    int best = -1, worst = 1 << 30, where = 0;
    if (row < rows) {
        for (int column = 0; column < columns; ++column) {
            const int value = data[row * columns + column];
            if (value > best) {
                best = value;
                where = column;
            }
            worst = min(worst, value);
        }
    }
    result[row] = best * 3 + worst % 1000 + where;
}
