/* The event count without the notifier's fence: it may find no waiter while its work is still in its store buffer. The
 * waiter sees no work either, and sleeps for ever.
 *
 * expect check: unsafe
 * expect robust: not robust
 * expect fences: 1
 */
#include <stdatomic.h>

atomic_int events, waiters, work;

void notifier(void)
{
    atomic_store_explicit(&work, 1, memory_order_release);
    if (atomic_load_explicit(&waiters, memory_order_acquire) > 0)
        atomic_fetch_add_explicit(&events, 1, memory_order_release);
}

void waiter(void)
{
    atomic_fetch_add_explicit(&waiters, 1, memory_order_seq_cst);
    int event = atomic_load_explicit(&events, memory_order_acquire);
    if (!atomic_load_explicit(&work, memory_order_acquire))
        while (atomic_load_explicit(&events, memory_order_acquire) == event)
            ;
}
