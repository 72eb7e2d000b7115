/* Threads of C's library. */
int pthread_create(unsigned long *thread, const void *attributes, void *(*work)(void *), void *argument);
int pthread_join(unsigned long thread, void **result);
int sched_yield(void);
