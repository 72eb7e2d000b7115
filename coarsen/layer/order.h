/* The order of what a program does: its launches, and what the host does with buffers between them.
 *
 *     FOLDER/PROCESS.order    how many steps there were, then a ring of the last ones: read by `log.py`
 *
 * Memory is told by numbers: twice the number of the whole buffer or allocation, 1 more for a part of one, 0 for what
 * is not known. A queue's number has a 1 at its end where it may change the order itself.
 */

enum { MOST_STEPS = 1 << 14, MOST_OF_STEP = 12 };
#define NOT_KNOWN 0xFFFFFFFFu

enum Action { LAUNCH = 1, READ, WRITE, MAP, UNMAP, FREE }; /* 0: it was not yet written when the process ended */

struct Step {
    uint32_t action;
    uint32_t kind;  /* of a launch */
    uint32_t queue; /* 0 for none, or one that is not known */
    uint32_t count; /* of memory, of which no more than there is room for is told */
    uint32_t memory[MOST_OF_STEP];
};

struct Order {
    uint64_t count, unused[7];
    struct Step steps[MOST_STEPS];
};

static struct Order *order;

static void add_step(const struct Step *step)
{
    order->steps[__atomic_fetch_add(&order->count, 1, __ATOMIC_RELAXED) % MOST_STEPS] = *step;
}

static void add_memory(struct Step *step, uint64_t whole, int is_part)
{
    if (step->count < MOST_OF_STEP)
        step->memory[step->count] = (uint32_t)whole << 1 | (is_part != 0);
    step->count++;
}
