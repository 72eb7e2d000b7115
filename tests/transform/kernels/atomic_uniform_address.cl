// Every work-item adds to one counter and keeps what it saw; the sum of tickets doesn't depend on their order.
kernel void atomic_uniform_address(global int *counter, global int *ticket_sum) {
    int ticket = atomic_inc(&counter[0]);
    atomic_add(&ticket_sum[0], ticket);
    atomic_max(&counter[1], (int)get_global_id(0) * 3);
}
