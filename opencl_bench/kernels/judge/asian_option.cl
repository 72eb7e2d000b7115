/*
 * Payoffs of an option on the mean of a price along random paths.
 *
 * Kind: Monte Carlo, finance; written for the second judge.
 * Threads: 1-D, one work-item per path, exactly the NDRange; a xorshift generator each, from a seed in memory. A
 * normal number is the sum of four uniform ones, scaled.
 */
uint next_number(uint state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

kernel void asian_option(global const uint *seeds, global float *payoffs, int steps, float price, float strike,
                         float drift, float volatility)
{
    size_t path = get_global_id(0);
    uint state = seeds[path];
    float current = price;
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
        float normal = 0.0f;
        for (int k = 0; k < 4; ++k) {
            state = next_number(state);
            normal += (state >> 8) * (1.0f / 16777216.0f) - 0.5f;
        }
        current *= exp(drift + volatility * 1.7320508f * normal);
        sum += current;
    }
    payoffs[path] = fmax(sum / steps - strike, 0.0f);
}
