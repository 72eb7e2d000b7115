/*
 * Transpose of a row-major matrix of height × width floats, by tiles in local memory.
 *
 * Origin: the task of transpose-co in G-ADAPT (Liu, Zhang, Shen, 2009) and of NVIDIA's SDK, oclTranspose, which pads;
 * written anew.
 * A work-group of TILE × TILE / ROWS has a tile of TILE × TILE, each work-item ROWS of its rows.
 * PAD: unused elements at the end of a tile's row, against conflicts of banks.
 * IMPL 0: groups take the tiles row by row. IMPL 1: along diagonals, against conflicts of memory's partitions.
 * Threads: 2-D, guarded; dimension 0 is the input's column.
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef TILE
#define TILE 16
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef PAD
#define PAD 1
#endif

kernel void transposeCo(global float *output, global const float *input, uint width, uint height)
{
    local float tile[TILE][TILE + PAD];
    uint x = get_local_id(0);
    uint y = get_local_id(1);
    uint tile_x = get_group_id(0);
    uint tile_y = get_group_id(1);
#if IMPL == 1
    tile_x = (get_group_id(0) + get_group_id(1)) % get_num_groups(0);
#endif
    for (uint row = y; row < TILE; row += TILE / ROWS)
        if (tile_x * TILE + x < width && tile_y * TILE + row < height)
            tile[row][x] = input[(tile_y * TILE + row) * width + tile_x * TILE + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = y; row < TILE; row += TILE / ROWS)
        if (tile_y * TILE + x < height && tile_x * TILE + row < width)
            output[(tile_x * TILE + row) * height + tile_y * TILE + x] = tile[x][row];
}
