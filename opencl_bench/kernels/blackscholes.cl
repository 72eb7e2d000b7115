/*
 * Prices of European call and put options by the formula of Black and Scholes.
 *
 * Origin: NVIDIA SDK, oclBlackScholes; written anew. The cumulative normal distribution is the polynomial of
 * Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17 (absolute error below 7.5e-8).
 * Threads: 1-D, each work-item takes the options from its global id on, in steps of the global size (grid
 * stride), so the trip count is divergent unless the global size divides the number of options.
 */
float cumulative_normal(float deviation)
{
    float t = 1.0f / (1.0f + 0.2316419f * fabs(deviation));
    float polynomial = t * (0.319381530f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f +
                       t * 1.330274429f))));
    float tail = 0.39894228f * exp(-0.5f * deviation * deviation) * polynomial;
    return deviation > 0.0f ? 1.0f - tail : tail;
}

kernel void blackscholes(global float *calls, global float *puts, global const float *prices,
                         global const float *strikes, global const float *years,
                         float interest, float volatility, uint option_count)
{
    for (uint option = get_global_id(0); option < option_count; option += get_global_size(0)) {
        float price = prices[option];
        float strike = strikes[option];
        float time = years[option];

        float deviation = volatility * sqrt(time);
        float first = (log(price / strike) + (interest + 0.5f * volatility * volatility) * time) / deviation;
        float second = first - deviation;
        float first_normal = cumulative_normal(first);
        float second_normal = cumulative_normal(second);
        float discounted = strike * exp(-interest * time);

        calls[option] = price * first_normal - discounted * second_normal;
        puts[option] = discounted * (1.0f - second_normal) - price * (1.0f - first_normal);
    }
}
