// Finds a pattern in a text: the pattern copied to local memory by the whole group, matches counted atomically.
kernel void string_match(global const char *text, int length, global const char *pattern, int pattern_length,
                         local char *copied, volatile global int *matches, global int *found) {
    event_t copy = async_work_group_copy(copied, pattern, (size_t)pattern_length, 0);
    wait_group_events(1, &copy);
    const int start = get_global_id(0);
    found[start] = 0;
    if (start + pattern_length > length) {
        return;
    }
    for (int i = 0; i < pattern_length; ++i) {
        if (copied[i] != '?' && copied[i] != text[start + i]) {
            return;
        }
    }
    atomic_inc(matches);
    found[start] = 1;
}
