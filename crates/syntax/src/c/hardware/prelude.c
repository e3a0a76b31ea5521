#define _GNU_SOURCE /* for sched_setaffinity */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wtautological-compare" /* programs may compare a value with itself */
#endif

/* A shared cell, on a cache line of its own. */
struct cell {
    _Alignas(64) _Atomic int64_t value;
};

/* What belongs to one thread of the processor. */
struct helper {
    uint64_t random;
    int waits;
    int steps;
};

/* How a thread ended. */
enum { DONE, BLOCKED, CUT, FAILED };

/* How often a thread tries a step that waits, and how often it goes back in its code, before it gives up. */
#define WAITS 5000
#define STEPS 5000

/* Plain accesses: on x86, one mov each. The signal fences keep the compiler from moving or merging them, and generate
 * no code. */
static inline int64_t load(struct cell *cell)
{
    atomic_signal_fence(memory_order_seq_cst);
    int64_t value = atomic_load_explicit(&cell->value, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return value;
}

static inline void store(struct cell *cell, int64_t value)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&cell->value, value, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

/* On x86, mfence or a locked instruction: the store buffer is empty afterwards. */
static inline void fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

/* Read-modify-writes: on x86, locked instructions. */
static inline int64_t exchange(struct cell *cell, int64_t value)
{
    return atomic_exchange(&cell->value, value);
}

/* What the cell held. */
static inline int64_t compare_exchange(struct cell *cell, int64_t expected, int64_t value)
{
    atomic_compare_exchange_strong(&cell->value, &expected, value);
    return expected;
}

/* Whether it was written. */
static inline int64_t compare_and_swap(struct cell *cell, int64_t expected, int64_t value)
{
    return atomic_compare_exchange_strong(&cell->value, &expected, value) ? 1 : 0;
}

static inline int64_t fetch_add(struct cell *cell, int64_t value)
{
    return atomic_fetch_add(&cell->value, value);
}

static inline int64_t fetch_sub(struct cell *cell, int64_t value)
{
    return atomic_fetch_sub(&cell->value, value);
}

static inline int64_t fetch_and(struct cell *cell, int64_t value)
{
    return atomic_fetch_and(&cell->value, value);
}

static inline int64_t fetch_or(struct cell *cell, int64_t value)
{
    return atomic_fetch_or(&cell->value, value);
}

static inline int64_t fetch_xor(struct cell *cell, int64_t value)
{
    return atomic_fetch_xor(&cell->value, value);
}

/* A number below the limit (xorshift; Marsaglia, 2003). */
static inline uint64_t choose(struct helper *self, uint64_t limit)
{
    self->random ^= self->random << 13;
    self->random ^= self->random >> 7;
    self->random ^= self->random << 17;
    return (self->random >> 11) % limit;
}

/* Counts one more attempt at a step that waits; true if there were too many. */
static inline int waits(struct helper *self)
{
    if (++self->waits % 256 == 0)
        sched_yield();
    return self->waits > WAITS;
}

/* Counts one more jump back; true if there were too many. */
static inline int steps(struct helper *self)
{
    if (++self->steps % 256 == 0)
        sched_yield();
    return self->steps > STEPS;
}
