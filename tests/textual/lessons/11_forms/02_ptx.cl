// --emit ptx: a global id is the group's id times its size plus the id in it. A launch of PTX has no offset.
//
// RUN: coarsen apply %s --factor 1 --emit ptx | filecheck %s

kernel void ids(global int *a)
{
    a[get_global_id(1)] = get_global_offset(1);
}

// CHECK: // ids: a launch has no global offset.
// CHECK: .target sm_75
// CHECK: .visible .entry ids(
// CHECK-DAG: mov.u32 [[GROUP:%r[0-9]+]], %ctaid.y;
// CHECK-DAG: mov.u32 [[SIZE:%r[0-9]+]], %ntid.y;
// CHECK-DAG: mov.u32 [[ITEM:%r[0-9]+]], %tid.y;
// CHECK: mad.lo.s32 [[ID:%r[0-9]+]], [[GROUP]], [[SIZE]], [[ITEM]];
// CHECK: st.global.b32 [%rd{{[0-9]+}}], 0;
