// Parts under equal and opposite conditions, which store what later ones load: in memory of their own, in that of others, in records.

struct pair { int first, second; };

void scale(int n, int k, global const int *a, global int *t)
{
    int i = get_global_id(0);
    if (i < n)
        t[i] = k * a[i];
}

void shift(int n, global const int *t, global int *c)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    c[i] = t[i] + 3;
}

kernel void guarded_chain(global const int *a, global int *t, global int *c, global struct pair *pairs, int n)
{
    int i = get_global_id(0), last = get_global_size(0), sum = 0;
    scale(n, 5, a, t);
    shift(n, t, c);
    if (a[i] & 1) {
        sum = t[i];
        for (int k = 0; k < (a[i] & 7); ++k)
            sum += a[k];
        pairs[i].first = sum;
    } else {
        pairs[i].first = -1;
    }
    if (i < n) {
        pairs[i].second = pairs[i].first;
        t[i] += pairs[i].second;
    }
    if (n > i && t[i] > 4)
        sum = c[i];
    if (i < n)
        c[i] = t[i] ^ as_int(as_float(pairs[i].first));
    t[i + last] = sum;
}
