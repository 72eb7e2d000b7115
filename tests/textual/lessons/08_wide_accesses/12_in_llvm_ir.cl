// In LLVM IR the accesses are calls of vload4 and vstore4, as clang writes them; PTX gets plain accesses again, since
// nothing says that the addresses are aligned to 16 bytes.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q --emit ll | filecheck %s
// RUN: coarsen apply %s --factor 4 --wide-accesses -q --emit ptx | filecheck %s --check-prefix PTX

kernel void copy(global const float *from, global float *to)
{
    int x = get_global_id(0);
    to[x] = from[x];
}

// CHECK: %[[WIDE:[a-z_0-9.]+]] = call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 0, ptr addrspace(1) %{{.*}})
// CHECK: call spir_func void @_Z7vstore4Dv4_fmPU3AS1f(<4 x float> %[[WIDE]], i64 0, ptr addrspace(1) %
//
// PTX-COUNT-4: ld.global.b32
// PTX-COUNT-4: st.global.b32
