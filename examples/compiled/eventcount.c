/* An event count: a waiter announces itself, reads the number of the last event, looks once more for work, and only then
 * sleeps until the number changes. The notifier makes work known, and looks for waiters. Both store and then load, so both
 * need a fence in between; the notifier's is an atomic addition to the number of events, which it can leave out if nobody
 * waits, and so it has one of its own.
 *
 * expect check: safe
 * expect robust: robust
 * expect fences: 0
 */
#include <assert.h>
#include <stdatomic.h>

atomic_int events, waiters, work;

void notifier(void)
{
    atomic_store_explicit(&work, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&waiters, memory_order_relaxed) > 0)
        atomic_fetch_add_explicit(&events, 1, memory_order_release);
}

void waiter(void)
{
    atomic_fetch_add_explicit(&waiters, 1, memory_order_seq_cst);
    int event = atomic_load_explicit(&events, memory_order_acquire);
    if (!atomic_load_explicit(&work, memory_order_relaxed))
        while (atomic_load_explicit(&events, memory_order_acquire) == event)
            ;
    atomic_fetch_sub_explicit(&waiters, 1, memory_order_relaxed);
    assert(atomic_load_explicit(&work, memory_order_relaxed) == 1);
}
