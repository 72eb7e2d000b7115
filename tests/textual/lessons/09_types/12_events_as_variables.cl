// An event that starts as none is assigned (event_t)0, since compilers take 0 for one where it is declared, and nowhere
// else. Of two events an `if` takes one: older compilers have no `? :` of events.
//
// RUN: coarsen apply %s -k chained --factor 2 | filecheck %s --check-prefix=CHAINED
// RUN: coarsen apply %s -k chosen --factor 2 | filecheck %s --check-prefix=CHOSEN

kernel void chained(global const float *data, global float *out, local float *tile)
{
    event_t copied = 0;
    for (int part = 0; part < 4; part++)
        copied = async_work_group_copy(tile + part * 8, data + part * 32, 8, copied);
    wait_group_events(1, &copied);
    out[get_global_id(0)] = tile[get_local_id(0)];
}

// CHAINED: event_t copied;
// CHAINED: copied = (event_t)0;
// CHAINED: event_t result = async_work_group_copy({{.*}}, 8, copied);
// CHAINED-NEXT: copied = result;

kernel void chosen(global const float *data, global float *out, local float *tile, int which)
{
    event_t first = async_work_group_copy(tile, data, 8, 0);
    event_t second = async_work_group_copy(tile + 8, data, 8, 0);
    event_t copied;
    if (which > 3)
        copied = first;
    else
        copied = second;
    wait_group_events(1, &copied);
    out[get_global_id(0)] = tile[get_local_id(0)];
}

// CHOSEN: if (which > 3) {
// CHOSEN-NEXT: [[EVENT:[a-z_0-9]+]] = first;
// CHOSEN-NEXT: } else {
// CHOSEN-NEXT: [[EVENT]] = second;
// CHOSEN-NEXT: }
