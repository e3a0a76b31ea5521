/* With gcc -DSIMULATE -pthread the program takes one random run: an atomic step holds a lock, a choice is random, and a
 * thread that cannot go on ends. Exit status: 1 if an assertion failed, else 0. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t simulated_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int simulated_is_atomic;
static _Thread_local uint64_t simulated_random;
static inline int64_t simulated_choice(void)
{
    if (simulated_random == 0) {
        simulated_random = (uint64_t)time(NULL) << 20 ^ (uint64_t)(uintptr_t)&simulated_random ^ (uint64_t)clock();
        simulated_random |= 1;
    }
    simulated_random ^= simulated_random << 13;
    simulated_random ^= simulated_random >> 7;
    simulated_random ^= simulated_random << 17;
    return (int64_t)(simulated_random >> 8 & 3);
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
static inline void simulated_begin(void)
{
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
