// A loop over rows whose number of turns depends on the group, with barriers and a reduction inside.
kernel void group_rows_loop(
    global const int *matrix, global int *sums, const int rows, const int columns, local int *partial) {
    const int item = get_local_id(0), items = get_local_size(0);
    for (int row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        int sum = 0;
        for (int column = item; column < columns; column += items)
            sum += matrix[row * columns + column];
        partial[item] = sum;
        for (int reach = items / 2; reach > 0; reach /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (item < reach)
                partial[item] += partial[item + reach];
        }
        if (item == 0)
            sums[row] = partial[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
