// Elementary functions, precise and native, with fma, mad, mix and select.
kernel void waves(global const float *input, global float *precise, global float *quick) {
    const size_t i = get_global_id(0);
    const float x = input[i];
    const float wave = sin(x) * exp(-fabs(x)) + pow(fabs(x) + 0.5f, 1.25f) + log(fabs(x) + 1.0f);
    precise[i] = fma(wave, 0.5f, mix(tanh(x), cos(x), 0.25f));
    quick[i] = mad(native_sin(x), native_exp(-fabs(x)), native_recip(2.0f + fabs(x)))
        + select(half_sqrt(fabs(x)), native_rsqrt(1.0f + x * x), isgreater(x, 0.0f));
}
