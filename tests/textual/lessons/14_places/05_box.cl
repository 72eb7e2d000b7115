// Of a larger array the part is copied that a work-group reads, here 10 by 6 elements with their borders, where the local
// size is known. Each cell is computed from one of the reads; a cell is copied if some read takes it, so that the corners,
// which no work-item reads, are left out. All work-items come to all reads, or there would be no such copy.
//
// RUN: coarsen apply %s --factor 1 --place image=local 2>&1 | filecheck %s

kernel __attribute__((reqd_work_group_size(8, 4, 1)))
void edges(global int *to, global const int *image, int width)
{
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    to[y * width + x] = image[y * width + x - 1] + image[y * width + x + 1]
                      - image[(y - 1) * width + x] - image[(y + 1) * width + x];
}

// CHECK: note: pass for image a buffer, of which each work-group copies the part that it reads, not the memory of to
// CHECK: local int image_tile[60];
// CHECK: % 10;
// CHECK: / 10 % 6;
// CHECK: image_tile{{.}}[[CELL:[a-z_0-9]+]]{{.}} = image[
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NOT: {{ }}image[
// CHECK: = (get_local_id(1) + 1) * 10 + get_local_id(0);
