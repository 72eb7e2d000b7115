// A stack machine: each work-item runs the same little program on its own number.
enum { PUSH, ADD, MULTIPLY, DUPLICATE, SWAP, LOAD, JUMP_IF_POSITIVE, DECREMENT, STOP };

kernel void interpreter(global const int *program, global const int *inputs, global int *results, int limit) {
    const int item = get_global_id(0);
    int stack[16];
    int top = 0;
    int counter = 0;
    for (int step = 0; step < limit; ++step) {
        const int operation = program[2 * counter];
        const int operand = program[2 * counter + 1];
        ++counter;
        switch (operation) {
        case PUSH:
            stack[top++] = operand;
            break;
        case ADD:
            --top;
            stack[top - 1] += stack[top];
            break;
        case MULTIPLY:
            --top;
            stack[top - 1] *= stack[top];
            break;
        case DUPLICATE:
            stack[top] = stack[top - 1];
            ++top;
            break;
        case SWAP: {
            const int kept = stack[top - 1];
            stack[top - 1] = stack[top - 2];
            stack[top - 2] = kept;
            break;
        }
        case LOAD:
            stack[top++] = inputs[item] & 15;
            break;
        case JUMP_IF_POSITIVE:
            if (stack[top - 1] > 0) {
                counter = operand;
            }
            break;
        case DECREMENT:
            stack[top - 1] -= operand;
            break;
        default:
            results[item] = stack[0];
            return;
        }
    }
    results[item] = -1;
}
