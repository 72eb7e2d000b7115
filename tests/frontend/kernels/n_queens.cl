// Counts solutions of the n-queens problem whose first queen's column is the work-item's; the search's stack is
// in private arrays.
#define LIMIT 12

kernel void n_queens(global uint *solutions, int size) {
    const int first = get_global_id(0);
    uint columns[LIMIT], down[LIMIT], up[LIMIT], open[LIMIT];
    const uint all = (1u << size) - 1;
    uint count = 0;
    if (first < size) {
        int row = 1;
        columns[1] = 1u << first;
        down[1] = columns[1] << 1;
        up[1] = columns[1] >> 1;
        open[1] = all & ~(columns[1] | down[1] | up[1]);
        while (row > 0) {
            if (open[row] == 0) {
                --row;
                continue;
            }
            const uint queen = open[row] & -open[row];
            open[row] ^= queen;
            if (row + 1 == size) {
                ++count;
                continue;
            }
            columns[row + 1] = columns[row] | queen;
            down[row + 1] = (down[row] | queen) << 1;
            up[row + 1] = (up[row] | queen) >> 1;
            ++row;
            open[row] = all & ~(columns[row] | down[row] | up[row]);
        }
    }
    solutions[first] = count;
}
