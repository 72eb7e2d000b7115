// --print-after shows the IR between the stages: `lower` is the source in normal form; `replicate` has a copy of what is
// divergent for each replica, named after its number; `normalise` is that after clean-up.
//
// RUN: coarsen apply %s --factor 2 --print-after lower --print-after replicate 2>&1 | filecheck %s

kernel void scaled(global float *data, float factor)
{
    size_t i = get_global_id(0);
    data[i] *= factor * factor;
}

// CHECK: ; after lower
// CHECK: define {{.*}}spir_kernel void @scaled(
// CHECK: %[[ID:[a-z_0-9.]+]] = call spir_func i64 @_Z13get_global_idj(i32 noundef 0)
// CHECK-NEXT: %mul = fmul float %factor, %factor
// CHECK-NEXT: %arrayidx = getelementptr inbounds nuw float, ptr addrspace(1) %data, i64 %[[ID]]
//
// CHECK: ; after replicate
// CHECK: %global_id.x = add i64
// CHECK-NEXT: %global_id.x.1 = add i64 %global_id.x, 1
// CHECK-NEXT: %mul = fmul float %factor, %factor
// CHECK-NEXT: %arrayidx = getelementptr inbounds nuw float, ptr addrspace(1) %data, i64 %global_id.x
// CHECK-NEXT: %arrayidx.1 = getelementptr inbounds nuw float, ptr addrspace(1) %data, i64 %global_id.x.1
// CHECK: store float %mul1, ptr addrspace(1) %arrayidx
// CHECK-NEXT: store float %mul1.1, ptr addrspace(1) %arrayidx.1
