// A loop with `continue`, which becomes two nested loops: its counters look uniform, but each replica takes its own
// number of turns of the inner one.
kernel void retreating_loop(global const int *data, global int *result, int depth) {
    const int id = get_global_id(0);
    int state = data[id];
    int row = depth;
    int count = 0;
    while (row > 0) {
        if ((state & 3) == 0) {
            --row;
            state = (state >> 2) + row;
            continue;
        }
        --state;
        ++count;
    }
    result[id] = count;
}
