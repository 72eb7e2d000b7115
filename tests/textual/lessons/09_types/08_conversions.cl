// Conversions with saturation and rounding are builtins of OpenCL, and keep their names.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void to_bytes(global const float *in, global uchar *out)
{
    size_t i = get_global_id(0);
    out[i] = convert_uchar_sat_rte(in[i]);
}

// CHECK: out[global_id_x] = convert_uchar_sat_rte(in[global_id_x]);
// CHECK: out[global_id_x_2] = convert_uchar_sat_rte(
