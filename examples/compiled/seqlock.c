/* A sequence lock: the reader tries again if the writer was active.
 *
 * expect check: safe
 */
#include <assert.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int left, right;

void writer(void)
{
    for (int value = 1; value <= 2; value++) {
        unsigned int before = atomic_load_explicit(&sequence, memory_order_relaxed);
        atomic_store_explicit(&sequence, before + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&left, value, memory_order_relaxed);
        atomic_store_explicit(&right, value, memory_order_relaxed);
        atomic_store_explicit(&sequence, before + 2, memory_order_release);
    }
}

void reader(void)
{
    unsigned int before, after;
    int a, b;
    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        a = atomic_load_explicit(&left, memory_order_relaxed);
        b = atomic_load_explicit(&right, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
    } while (before != after || before % 2);
    assert(a == b);
}
