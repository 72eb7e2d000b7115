/*
 * The programs on streams as one writes them first: a kernel for each operation, with its results in memory.
 * `pairs` and `select_two` demand work-groups of 256. The others are launched in whole ones, and told how many
 * work-items they need.
 */

// products: a work-item for a row; a work-group for a pair, as NVIDIA's SDK has it in scalarProd.
kernel void rows(int count, int width, global const float *m, global const float *v, global float *result)
{
    const size_t row = get_global_id(0);
    if (row >= count)
        return;
    float sum = 0;
    for (int i = 0; i < width; ++i)
        sum += m[row * width + i] * v[i];
    result[row] = sum;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
pairs(int length, global const float *x, global const float *y, global float *result)
{
    local float sums[256];
    const size_t pair = get_group_id(0), item = get_local_id(0);
    float sum = 0;
    for (size_t i = item; i < length; i += 256)
        sum += x[pair * length + i] * y[pair * length + i];
    sums[item] = sum;
    for (size_t reach = 128; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < reach)
            sums[item] += sums[item + reach];
    }
    if (item == 0)
        result[pair] = sums[0];
}

// convolution
float at(global const float *image, int width, int height, int x, int y)
{
    return x < 0 || y < 0 || x >= width || y >= height ? 0 : image[y * width + x];
}

kernel void along(int width, int height, int dx, int dy, global const float *taps, global const float *from,
                  global float *to)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int k = -8; k <= 8; ++k)
        sum += taps[8 + k] * at(from, width, height, x + k * dx, y + k * dy);
    to[y * width + x] = sum;
}

kernel void mean_of_five(int width, int height, global const float *from, global float *to)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float sum = from[y * width + x];
    sum += at(from, width, height, x - 1, y) + at(from, width, height, x + 1, y);
    sum += at(from, width, height, x, y - 1) + at(from, width, height, x, y + 1);
    to[y * width + x] = 0.2f * sum;
}

// ocean
kernel void slope(int width, int height, int dx, int dy, global const float *heights, global float *slopes)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    const int i = y * width + x, step = dy * width + dx;
    const int is_inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
    slopes[i] = is_inside ? heights[i + step] - heights[i - step] : 0;
}

// monte-carlo: paths along 0, options along 1.
kernel void payoffs(int paths, int options, float rate, float volatility, global const float *normals,
                    global const float *price, global const float *strike, global const float *years,
                    global float *payoffs)
{
    const size_t path = get_global_id(0), option = get_global_id(1);
    if (path >= paths || option >= options)
        return;
    const float drift = (rate - 0.5f * volatility * volatility) * years[option];
    const float end = price[option] * exp(drift + volatility * sqrt(years[option]) * normals[path]);
    payoffs[option * paths + path] = fmax(end - strike[option], 0.0f);
}

kernel void sum_powers(int options, int power, int paths, global const float *payoffs, global float *sums)
{
    const size_t option = get_global_id(0);
    if (option >= options)
        return;
    float sum = 0;
    // By parts: a long sum of positive numbers in one order is far off.
    for (int first = 0; first < paths; first += 1024) {
        float part = 0;
        for (int i = first; i < min(first + 1024, paths); ++i) {
            const float payoff = payoffs[option * paths + i];
            part += power == 2 ? payoff * payoff : payoff;
        }
        sum += part;
    }
    sums[option] = sum;
}

// svm: both selections in a work-group, of equal gradients the first.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
select_two(int n, float penalty, global const float *f, global const float *y, global const float *alpha,
           global long *high, global long *low)
{
    local long places[2][256];
    local float values[2][256];
    const size_t item = get_local_id(0);
    for (int which = 0; which < 2; ++which) {
        const int sign = which ? -1 : 1;
        float best = INFINITY;
        long place = 0;
        for (long i = item; i < n; i += 256) {
            const int may_move = sign * y[i] > 0 ? alpha[i] < penalty : alpha[i] > 0;
            if (may_move && sign * f[i] < best) {
                best = sign * f[i];
                place = i;
            }
        }
        values[which][item] = best;
        places[which][item] = place;
    }
    for (size_t reach = 128; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int which = 0; which < 2 && item < reach; ++which) {
            const float own = values[which][item], other = values[which][item + reach];
            if (other < own || (other == own && places[which][item + reach] < places[which][item])) {
                values[which][item] = other;
                places[which][item] = places[which][item + reach];
            }
        }
    }
    if (item == 0) {
        *high = places[0][0];
        *low = places[1][0];
    }
}

kernel void square_distance(int rows, int features, global const float *m, global const long *to,
                            global float *distances)
{
    const size_t row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < features; ++i) {
        const float off = m[row * features + i] - m[*to * features + i];
        sum += off * off;
    }
    distances[row] = sum;
}

kernel void update(int n, float sign, float gamma, global const float *moved, global const float *distances,
                   global float *f)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    f[i] += sign * moved[0] * exp(-gamma * distances[i]);
}
