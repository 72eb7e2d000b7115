/* What the programs have in common: an end where something fails, and a start without C's start files. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            printf("line %d: %s\n", __LINE__, #condition);                                                           \
            fflush(NULL);                                                                                            \
            exit(9);                                                                                                 \
        }                                                                                                            \
    } while (0)

int main(void);

/* Linked without C's start files: the C library is initialised by the dynamic linker. */
#ifdef __x86_64__
__attribute__((force_align_arg_pointer))
#endif
void _start(void)
{
    int code = main();
    fflush(NULL);
    exit(code);
}
