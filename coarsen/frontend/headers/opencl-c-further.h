// Builtin functions that devices have and clang does not declare, or not for each version of OpenCL C.
//
// Read for sources that don't compile without it, or that have no kernel without its macros. Functions of a
// sub-group are declared so that a kernel that calls them is refused for what it does, and its neighbours are
// coarsened; those of one work-item's values are `const`, and coarsened like any other.

#define COARSEN_OVERLOAD __attribute__((overloadable))
#define COARSEN_PURE __attribute__((overloadable, const))

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define COARSEN_HALVES(declare) declare(half)
#define COARSEN_HALF_VECTORS(declare) declare(half2) declare(half3) declare(half4) declare(half8) declare(half16)
#else
#define COARSEN_HALVES(declare)
#define COARSEN_HALF_VECTORS(declare)
#endif
#ifdef cl_khr_fp64
#if __OPENCL_C_VERSION__ < 120
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define COARSEN_DOUBLES(declare) declare(double)
#define COARSEN_DOUBLE_VECTORS(declare) \
    declare(double2) declare(double3) declare(double4) declare(double8) declare(double16)
#else
#define COARSEN_DOUBLES(declare)
#define COARSEN_DOUBLE_VECTORS(declare)
#endif

#define COARSEN_INTEGERS(declare) \
    declare(char) declare(uchar) declare(short) declare(ushort) \
    declare(int) declare(uint) declare(long) declare(ulong)
#define COARSEN_SCALARS(declare) \
    COARSEN_INTEGERS(declare) declare(float) COARSEN_HALVES(declare) COARSEN_DOUBLES(declare)
#define COARSEN_VECTORS_OF(declare, type) \
    declare(type##2) declare(type##3) declare(type##4) declare(type##8) declare(type##16)
#define COARSEN_VECTORS(declare) \
    COARSEN_VECTORS_OF(declare, char) COARSEN_VECTORS_OF(declare, uchar) COARSEN_VECTORS_OF(declare, short) \
    COARSEN_VECTORS_OF(declare, ushort) COARSEN_VECTORS_OF(declare, int) COARSEN_VECTORS_OF(declare, uint) \
    COARSEN_VECTORS_OF(declare, long) COARSEN_VECTORS_OF(declare, ulong) COARSEN_VECTORS_OF(declare, float) \
    COARSEN_HALF_VECTORS(declare) COARSEN_DOUBLE_VECTORS(declare)
#define COARSEN_TYPES(declare) COARSEN_SCALARS(declare) COARSEN_VECTORS(declare)

// Khronos: cl_khr_subgroups and its parts.

uint COARSEN_OVERLOAD get_sub_group_size(void);
uint COARSEN_OVERLOAD get_max_sub_group_size(void);
uint COARSEN_OVERLOAD get_num_sub_groups(void);
uint COARSEN_OVERLOAD get_enqueued_num_sub_groups(void);
uint COARSEN_OVERLOAD get_sub_group_id(void);
uint COARSEN_OVERLOAD get_sub_group_local_id(void);

void COARSEN_OVERLOAD sub_group_barrier(cl_mem_fence_flags flags);
#if defined(__OPENCL_CPP_VERSION__) || __OPENCL_C_VERSION__ >= 200
void COARSEN_OVERLOAD sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope);
#endif

int COARSEN_OVERLOAD sub_group_all(int predicate);
int COARSEN_OVERLOAD sub_group_any(int predicate);
int COARSEN_OVERLOAD sub_group_elect(void);
int COARSEN_OVERLOAD sub_group_non_uniform_all(int predicate);
int COARSEN_OVERLOAD sub_group_non_uniform_any(int predicate);

uint4 COARSEN_OVERLOAD sub_group_ballot(int predicate);
int COARSEN_OVERLOAD sub_group_inverse_ballot(uint4 value);
int COARSEN_OVERLOAD sub_group_ballot_bit_extract(uint4 value, uint index);
uint COARSEN_OVERLOAD sub_group_ballot_bit_count(uint4 value);
uint COARSEN_OVERLOAD sub_group_ballot_inclusive_scan(uint4 value);
uint COARSEN_OVERLOAD sub_group_ballot_exclusive_scan(uint4 value);
uint COARSEN_OVERLOAD sub_group_ballot_find_lsb(uint4 value);
uint COARSEN_OVERLOAD sub_group_ballot_find_msb(uint4 value);
uint4 COARSEN_OVERLOAD get_sub_group_eq_mask(void);
uint4 COARSEN_OVERLOAD get_sub_group_ge_mask(void);
uint4 COARSEN_OVERLOAD get_sub_group_gt_mask(void);
uint4 COARSEN_OVERLOAD get_sub_group_le_mask(void);
uint4 COARSEN_OVERLOAD get_sub_group_lt_mask(void);

#define COARSEN_MOVES(type) \
    type COARSEN_OVERLOAD sub_group_broadcast(type value, uint lane); \
    type COARSEN_OVERLOAD sub_group_broadcast_first(type value); \
    type COARSEN_OVERLOAD sub_group_non_uniform_broadcast(type value, uint lane); \
    int COARSEN_OVERLOAD sub_group_non_uniform_all_equal(type value); \
    type COARSEN_OVERLOAD sub_group_shuffle(type value, uint lane); \
    type COARSEN_OVERLOAD sub_group_shuffle_xor(type value, uint mask); \
    type COARSEN_OVERLOAD sub_group_shuffle_up(type value, uint delta); \
    type COARSEN_OVERLOAD sub_group_shuffle_down(type value, uint delta); \
    type COARSEN_OVERLOAD sub_group_rotate(type value, int delta); \
    type COARSEN_OVERLOAD sub_group_clustered_rotate(type value, int delta, uint size);
COARSEN_TYPES(COARSEN_MOVES)

#define COARSEN_COMBINES(type, kind, operation) \
    type COARSEN_OVERLOAD sub_group_##kind##reduce_##operation(type value); \
    type COARSEN_OVERLOAD sub_group_##kind##scan_inclusive_##operation(type value); \
    type COARSEN_OVERLOAD sub_group_##kind##scan_exclusive_##operation(type value);
#define COARSEN_COMBINES_CLUSTERED(type, operation) \
    COARSEN_COMBINES(type, non_uniform_, operation) \
    type COARSEN_OVERLOAD sub_group_clustered_reduce_##operation(type value, uint size);
#define COARSEN_ARITHMETIC(type) \
    COARSEN_COMBINES(type, , add) COARSEN_COMBINES(type, , min) COARSEN_COMBINES(type, , max) \
    COARSEN_COMBINES_CLUSTERED(type, add) COARSEN_COMBINES_CLUSTERED(type, mul) \
    COARSEN_COMBINES_CLUSTERED(type, min) COARSEN_COMBINES_CLUSTERED(type, max)
#define COARSEN_BITWISE(type) \
    COARSEN_COMBINES_CLUSTERED(type, and) COARSEN_COMBINES_CLUSTERED(type, or) \
    COARSEN_COMBINES_CLUSTERED(type, xor)
COARSEN_SCALARS(COARSEN_ARITHMETIC)
COARSEN_INTEGERS(COARSEN_BITWISE)
COARSEN_COMBINES_CLUSTERED(int, logical_and)
COARSEN_COMBINES_CLUSTERED(int, logical_or)
COARSEN_COMBINES_CLUSTERED(int, logical_xor)

// Intel: cl_intel_subgroups, _char, _short, _long, _buffer_prefetch, _local_block_io, cl_intel_media_block_io.

#define COARSEN_INTEL_SHUFFLES(type) \
    type COARSEN_OVERLOAD intel_sub_group_shuffle(type value, uint lane); \
    type COARSEN_OVERLOAD intel_sub_group_shuffle_xor(type value, uint mask); \
    type COARSEN_OVERLOAD intel_sub_group_shuffle_up(type before, type value, uint delta); \
    type COARSEN_OVERLOAD intel_sub_group_shuffle_down(type value, type after, uint delta);
COARSEN_TYPES(COARSEN_INTEL_SHUFFLES)

#define COARSEN_INTEL_COMBINES(type, operation) \
    type COARSEN_OVERLOAD intel_sub_group_reduce_##operation(type value); \
    type COARSEN_OVERLOAD intel_sub_group_scan_inclusive_##operation(type value); \
    type COARSEN_OVERLOAD intel_sub_group_scan_exclusive_##operation(type value);
#define COARSEN_INTEL_ARITHMETIC(type) \
    type COARSEN_OVERLOAD intel_sub_group_broadcast(type value, uint lane); \
    COARSEN_INTEL_COMBINES(type, add) COARSEN_INTEL_COMBINES(type, min) COARSEN_INTEL_COMBINES(type, max)
COARSEN_SCALARS(COARSEN_INTEL_ARITHMETIC)

#define COARSEN_INTEL_BLOCKS(type, suffix, vector, count) \
    vector COARSEN_OVERLOAD intel_sub_group_block_read##suffix##count(const global type *from); \
    vector COARSEN_OVERLOAD intel_sub_group_block_read##suffix##count(const local type *from); \
    vector COARSEN_OVERLOAD intel_sub_group_block_read##suffix##count(read_only image2d_t image, int2 place); \
    void COARSEN_OVERLOAD intel_sub_group_block_write##suffix##count(global type *to, vector value); \
    void COARSEN_OVERLOAD intel_sub_group_block_write##suffix##count(local type *to, vector value); \
    void COARSEN_OVERLOAD intel_sub_group_block_write##suffix##count( \
        write_only image2d_t image, int2 place, vector value);
#define COARSEN_INTEL_MEDIA_BLOCKS(suffix, vector, count) \
    vector COARSEN_OVERLOAD intel_sub_group_media_block_read##suffix##count( \
        int2 place, int width, int height, read_only image2d_t image); \
    void COARSEN_OVERLOAD intel_sub_group_media_block_write##suffix##count( \
        int2 place, int width, int height, vector value, write_only image2d_t image);
#define COARSEN_INTEL_BLOCK_IO(type, suffix) \
    COARSEN_INTEL_BLOCKS(type, suffix, type, ) COARSEN_INTEL_BLOCKS(type, suffix, type##2, 2) \
    COARSEN_INTEL_BLOCKS(type, suffix, type##4, 4) COARSEN_INTEL_BLOCKS(type, suffix, type##8, 8) \
    COARSEN_INTEL_BLOCKS(type, suffix, type##16, 16) \
    COARSEN_INTEL_MEDIA_BLOCKS(suffix, type, ) COARSEN_INTEL_MEDIA_BLOCKS(suffix, type##2, 2) \
    COARSEN_INTEL_MEDIA_BLOCKS(suffix, type##4, 4) COARSEN_INTEL_MEDIA_BLOCKS(suffix, type##8, 8) \
    COARSEN_INTEL_MEDIA_BLOCKS(suffix, type##16, 16)
COARSEN_INTEL_BLOCK_IO(uint, )
COARSEN_INTEL_BLOCK_IO(uint, _ui)
COARSEN_INTEL_BLOCK_IO(uchar, _uc)
COARSEN_INTEL_BLOCK_IO(ushort, _us)
COARSEN_INTEL_BLOCK_IO(ulong, _ul)

#define COARSEN_INTEL_PREFETCH(type, suffix) \
    void COARSEN_OVERLOAD intel_sub_group_block_prefetch_##suffix(const global type *from); \
    void COARSEN_OVERLOAD intel_sub_group_block_prefetch_##suffix##2(const global type *from); \
    void COARSEN_OVERLOAD intel_sub_group_block_prefetch_##suffix##4(const global type *from); \
    void COARSEN_OVERLOAD intel_sub_group_block_prefetch_##suffix##8(const global type *from); \
    void COARSEN_OVERLOAD intel_sub_group_block_prefetch_##suffix##16(const global type *from);
COARSEN_INTEL_PREFETCH(uint, ui)
COARSEN_INTEL_PREFETCH(uchar, uc)
COARSEN_INTEL_PREFETCH(ushort, us)
COARSEN_INTEL_PREFETCH(ulong, ul)

// Intel: cl_intel_subgroup_matrix_multiply_accumulate, `a` for 16 and for 8 work-items, one row to eight.

#define COARSEN_INTEL_MATRIX_ROWS(name, sum, rows) \
    sum##rows COARSEN_OVERLOAD name(short##rows a, int8 b, sum##rows accumulated); \
    sum##rows COARSEN_OVERLOAD name(int##rows a, int8 b, sum##rows accumulated);
#define COARSEN_INTEL_MATRIX(name, sum) \
    COARSEN_INTEL_MATRIX_ROWS(name, sum, ) COARSEN_INTEL_MATRIX_ROWS(name, sum, 2) \
    COARSEN_INTEL_MATRIX_ROWS(name, sum, 4) COARSEN_INTEL_MATRIX_ROWS(name, sum, 8)
COARSEN_INTEL_MATRIX(intel_sub_group_i8_i8_matrix_mad_k32, int)
COARSEN_INTEL_MATRIX(intel_sub_group_i8_u8_matrix_mad_k32, int)
COARSEN_INTEL_MATRIX(intel_sub_group_u8_i8_matrix_mad_k32, int)
COARSEN_INTEL_MATRIX(intel_sub_group_u8_u8_matrix_mad_k32, int)
COARSEN_INTEL_MATRIX(intel_sub_group_i4_i4_matrix_mad_k64, int)
COARSEN_INTEL_MATRIX(intel_sub_group_i4_u4_matrix_mad_k64, int)
COARSEN_INTEL_MATRIX(intel_sub_group_u4_i4_matrix_mad_k64, int)
COARSEN_INTEL_MATRIX(intel_sub_group_u4_u4_matrix_mad_k64, int)
COARSEN_INTEL_MATRIX(intel_sub_group_f16_f16_matrix_mad_k16, float)
COARSEN_INTEL_MATRIX(intel_sub_group_bf16_bf16_matrix_mad_k16, float)

// Intel: cl_intel_bfloat16_conversions.

#define COARSEN_BFLOAT16(count) \
    ushort##count COARSEN_PURE intel_convert_bfloat16##count##_as_ushort##count(float##count value); \
    float##count COARSEN_PURE intel_convert_as_bfloat16##count##_float##count(ushort##count value);
COARSEN_BFLOAT16()
COARSEN_BFLOAT16(2)
COARSEN_BFLOAT16(3)
COARSEN_BFLOAT16(4)
COARSEN_BFLOAT16(8)
COARSEN_BFLOAT16(16)

// Qualcomm: cl_qcom_subgroup_shuffle, cl_qcom_subgroup_constant_load.

typedef enum {
    CLK_SUB_GROUP_SHUFFLE_WIDTH_WAVE_SIZE_QCOM,
    CLK_SUB_GROUP_SHUFFLE_WIDTH_W2_QCOM,
    CLK_SUB_GROUP_SHUFFLE_WIDTH_W4_QCOM,
    CLK_SUB_GROUP_SHUFFLE_WIDTH_W8_QCOM
} coarsen_qcom_shuffle_width;
typedef enum { QCOM_CLK_CONST_LOAD_SYNC } coarsen_qcom_sync;

#define COARSEN_QUALCOMM(type) \
    type COARSEN_OVERLOAD qcom_sub_group_shuffle_up(type value, uint delta, int width, type otherwise); \
    type COARSEN_OVERLOAD qcom_sub_group_shuffle_down(type value, uint delta, int width, type otherwise); \
    type COARSEN_OVERLOAD qcom_sub_group_shuffle_xor(type value, uint mask, int width, type otherwise); \
    void COARSEN_OVERLOAD qcom_sub_group_constant_load8( \
        constant type *to, const global type *from, int offset, int start, int count); \
    void COARSEN_OVERLOAD qcom_sub_group_constant_load16( \
        constant type *to, const global type *from, int offset, int start, int count);
COARSEN_TYPES(COARSEN_QUALCOMM)
void COARSEN_OVERLOAD qcom_sub_group_sync(int what);

// ARM: cl_arm_integer_dot_product_int8, _accumulate_int8, _int16, _saturate_int8; cl_arm_get_core_id.

#define COARSEN_ARM_DOTS(type, bytes, shorts) \
    type COARSEN_PURE arm_dot(bytes a, bytes b); \
    type COARSEN_PURE arm_dot_acc(bytes a, bytes b, type accumulated); \
    type COARSEN_PURE arm_dot_acc(shorts a, shorts b, type accumulated); \
    type COARSEN_PURE arm_dot_acc_sat(bytes a, bytes b, type accumulated);
COARSEN_ARM_DOTS(int, char4, short2)
COARSEN_ARM_DOTS(uint, uchar4, ushort2)
uint COARSEN_OVERLOAD arm_get_core_id(void);

// AMD: what its compiler has for a wavefront.

int __builtin_amdgcn_readfirstlane(int value);
int __builtin_amdgcn_readlane(int value, int lane);
int __builtin_amdgcn_ds_bpermute(int address, int value);
int __builtin_amdgcn_ds_permute(int address, int value);
int __builtin_amdgcn_ds_swizzle(int value, int pattern);
int __builtin_amdgcn_mov_dpp(int value, int control, int rows, int banks, bool bound);
int __builtin_amdgcn_update_dpp(int before, int value, int control, int rows, int banks, bool bound);
uint __builtin_amdgcn_mbcnt_lo(uint mask, uint value);
uint __builtin_amdgcn_mbcnt_hi(uint mask, uint value);
uint __builtin_amdgcn_wavefrontsize(void);
void __builtin_amdgcn_wave_barrier(void);

#if !defined(__OPENCL_CPP_VERSION__) && __OPENCL_C_VERSION__ < 200
// Khronos: cl_khr_extended_bit_ops, which clang declares from OpenCL C 2.0 on.

#define COARSEN_BIT_OPERATIONS(type, signed_type, unsigned_type) \
    type COARSEN_PURE bitfield_insert(type base, type inserted, uint offset, uint count); \
    signed_type COARSEN_PURE bitfield_extract_signed(type base, uint offset, uint count); \
    unsigned_type COARSEN_PURE bitfield_extract_unsigned(type base, uint offset, uint count); \
    type COARSEN_PURE bit_reverse(type base);
#define COARSEN_BIT_OPERATIONS_OF(i, u) COARSEN_BIT_OPERATIONS(i, i, u) COARSEN_BIT_OPERATIONS(u, i, u)
#define COARSEN_BIT_OPERATIONS_ON(i, u) \
    COARSEN_BIT_OPERATIONS_OF(i, u) COARSEN_BIT_OPERATIONS_OF(i##2, u##2) COARSEN_BIT_OPERATIONS_OF(i##3, u##3) \
    COARSEN_BIT_OPERATIONS_OF(i##4, u##4) COARSEN_BIT_OPERATIONS_OF(i##8, u##8) \
    COARSEN_BIT_OPERATIONS_OF(i##16, u##16)
COARSEN_BIT_OPERATIONS_ON(char, uchar)
COARSEN_BIT_OPERATIONS_ON(short, ushort)
COARSEN_BIT_OPERATIONS_ON(int, uint)
COARSEN_BIT_OPERATIONS_ON(long, ulong)

// Macros that devices define for OpenCL C 1.2 as well.

#define cl_khr_extended_bit_ops 1
#define cl_khr_subgroups 1
#define cl_khr_subgroup_extended_types 1
#define cl_khr_subgroup_non_uniform_vote 1
#define cl_khr_subgroup_ballot 1
#define cl_khr_subgroup_non_uniform_arithmetic 1
#define cl_khr_subgroup_shuffle 1
#define cl_khr_subgroup_shuffle_relative 1
#define cl_khr_subgroup_clustered_reduce 1
#define cl_khr_integer_dot_product 1
#define cl_khr_kernel_clock 1
#define cl_ext_float_atomics 1
#define cl_intel_required_subgroup_size 1
#endif

// Macros of extensions that clang doesn't define. Those that it does define without declaring their functions stay
// defined where this is read.

#define cl_khr_subgroup_rotate 1
#define cl_intel_subgroup_matrix_multiply_accumulate 1
#define cl_intel_media_block_io 1
#define cl_qcom_reqd_sub_group_size 1
#define cl_qcom_subgroup_shuffle 1
#define cl_arm_core_id 1
#define cl_arm_integer_dot_product_int8 1
#define cl_arm_integer_dot_product_accumulate_int8 1
#define cl_arm_integer_dot_product_accumulate_int16 1
#define cl_arm_integer_dot_product_accumulate_saturate_int8 1
