/* With gcc -DSIMULATE -pthread the program takes one random run: an atomic step holds a lock, a choice is random, and a
 * thread that cannot go on ends. Exit status: 1 if an assertion failed, else 0. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t simulated_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int simulated_is_atomic;
static _Thread_local uint64_t simulated_seed;
/* The clock, the thread and the number of the call, mixed well: seeds that are alike must not give choices that are. */
static inline uint64_t simulated_number(void)
{
    static _Thread_local uint64_t calls;
    uint64_t mixed;
    if (simulated_seed == 0) {
        struct timespec now;
        timespec_get(&now, TIME_UTC);
        simulated_seed = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)&simulated_seed;
    }
    mixed = simulated_seed + ++calls * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}
static inline int64_t simulated_choice(void)
{
    return (int64_t)(simulated_number() >> 62);
}
static inline void simulated_assume(int condition)
{
    if (!condition) {
        if (simulated_is_atomic)
            pthread_mutex_unlock(&simulated_lock);
        pthread_exit(NULL);
    }
}
static inline void simulated_assert(int condition, const char *text)
{
    if (!condition) {
        printf("assertion violated: %s\n", text);
        exit(1);
    }
}
/* Now and then a thread waits, so that the others overtake it. */
static inline void simulated_begin(void)
{
    struct timespec pause = { 0, (long)(simulated_number() & 0xffff) };
    if (simulated_choice() == 0)
        nanosleep(&pause, NULL);
    else
        sched_yield();
    pthread_mutex_lock(&simulated_lock);
    simulated_is_atomic = 1;
}
static inline void simulated_end(void)
{
    simulated_is_atomic = 0;
    pthread_mutex_unlock(&simulated_lock);
}
#define ASSUME(condition) simulated_assume(condition)
#define ASSERT(condition, text) simulated_assert(condition, text)
#define ATOMIC_BEGIN() simulated_begin()
#define ATOMIC_END() simulated_end()
#define NONDET() simulated_choice()
