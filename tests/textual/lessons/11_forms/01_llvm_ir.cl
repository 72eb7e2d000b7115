// --emit ll: the kernel as clang would have printed it, with its layout and triple, and nothing that is not used.
//
// RUN: coarsen apply %s --kernel used --factor 2 --emit ll | filecheck %s

int helper(int x) { return x + 1; }
constant int unused[2] = {1, 2};

kernel void other(global float *f) { f[0] = sin(f[1]); }

kernel void used(global int *a) { a[get_global_id(0)] = helper(a[0]); }

// CHECK: ; ModuleID = 'used'
// CHECK: target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
// CHECK: target triple = "spir64-unknown-unknown"
// CHECK-NOT: {{other|helper|unused|_Z3sinf|!dbg|Debug Info}}
// CHECK: define dso_local spir_kernel void @used(ptr addrspace(1) {{.*}}%a)
// CHECK: %global_id.x.1 = add i64 %global_id.x, 1
// CHECK: store i32 %add.i, ptr addrspace(1) %[[FIRST:[a-z_0-9.]+]], align 4
// CHECK-NEXT: store i32 %add.i, ptr addrspace(1) %[[FIRST]].1, align 4
// CHECK-NOT: {{other|helper|unused|_Z3sinf|!dbg|Debug Info}}
