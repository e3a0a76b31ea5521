/* A test-and-test-and-set lock that is released with a plain store.
 *
 * expect check: safe
 * expect robust: robust
 * expect fences: 0
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool locked;
static int inside;

static void lock(void)
{
    while (atomic_exchange_explicit(&locked, true, memory_order_acquire))
        while (atomic_load_explicit(&locked, memory_order_relaxed))
            __builtin_ia32_pause();
}

static void unlock(void)
{
    atomic_store_explicit(&locked, false, memory_order_release);
}

void worker(void)
{
    for (int round = 0; round < 2; round++) {
        lock();
        inside++;
        assert(inside == 1);
        inside--;
        unlock();
    }
}
