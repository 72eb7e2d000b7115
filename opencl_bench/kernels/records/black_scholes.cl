/*
 * Prices of European options by the formula of Black and Scholes, an option a record of 15 bytes of data in 16.
 *
 * Kind: finance as records.
 * Threads: 1-D, one work-item for each option, guarded. A put is priced by the parity of put and call.
 */
typedef struct {
    float spot;
    float strike;
    float years;
    ushort contracts;
    uchar is_put;
} Option;

typedef struct {
    float price;
    float delta;
    uint contracts;
} Quote;

/* The normal distribution by the polynomial of Abramowitz and Stegun (26.2.17). */
static float normal(float x)
{
    float t = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float sum = t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
    float tail = 0.39894228f * exp(-0.5f * x * x) * sum;
    return x > 0.0f ? 1.0f - tail : tail;
}

kernel void black_scholes_records(global const Option *options, global Quote *quotes, uint count, float rate,
                                  float volatility)
{
    uint item = get_global_id(0);
    if (item >= count)
        return;
    float spot = options[item].spot, strike = options[item].strike, years = options[item].years;
    float deviation = volatility * sqrt(years);
    float first = (log(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
    float discounted = strike * exp(-rate * years);
    float delta = normal(first);
    float call = spot * delta - discounted * normal(first - deviation);
    uchar is_put = options[item].is_put;
    quotes[item].price = is_put ? call - spot + discounted : call;
    quotes[item].delta = is_put ? delta - 1.0f : delta;
    quotes[item].contracts = options[item].contracts;
}
