// Divergent break, continue and return, nested, in loops with uniform bounds.
kernel void break_continue_return(global const int *data, global int *result, int count) {
    const int id = get_global_id(0);
    const int seed = data[id];
    if (seed % 11 == 0) {
        result[id] = -1;
        return;
    }
    int total = 0;
    for (int outer = 0; outer < count; ++outer) {
        if ((seed + outer) % 7 == 3) {
            continue;
        }
        for (int inner = 0; inner < count; ++inner) {
            if (inner * outer > seed % 50) {
                break;
            }
            if ((inner ^ seed) & 1) {
                continue;
            }
            if (seed % 13 == 5 && inner > 4) {
                result[id] = total;
                return;
            }
            total += inner + outer;
        }
        if (total > 300) {
            break;
        }
        total++;
    }
    result[id] = total;
}
