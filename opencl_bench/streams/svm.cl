/*
 * How far two points of a support-vector machine move in a step of its training: one work-item.
 *
 * `high` and `low` are the points' numbers, `distances` the squared ones of all points to `high`, so many elements
 * apart; `f` are gradients, `y` labels, `alpha` weights. `moved` gets how far both move, and the gap before.
 */

float raised(float alpha, float way, float penalty)
{
    return way >= penalty - alpha ? penalty : alpha + way;
}

kernel void take_step(global const long *high, global const long *low, int stride, global const float *distances,
                      float gamma, float penalty, global const float *f, global const float *y,
                      global float *alpha, global float *moved)
{
    const long i = *high, j = *low;
    const float gap = f[j] - f[i], curvature = fmax(2 - 2 * exp(-gamma * distances[stride * j]), 1e-6f);
    const float room_of_i = y[i] > 0 ? penalty - alpha[i] : alpha[i];
    const float room_of_j = y[j] > 0 ? alpha[j] : penalty - alpha[j];
    const float way = gap > 0 ? fmin(gap / curvature, fmin(room_of_i, room_of_j)) : 0;
    moved[0] = way;
    moved[1] = gap;
    if (way > 0) {
        alpha[i] = y[i] > 0 ? raised(alpha[i], way, penalty) : alpha[i] - way;
        alpha[j] = y[j] > 0 ? alpha[j] - way : raised(alpha[j], way, penalty);
    }
}
