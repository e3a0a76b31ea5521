/* Peterson's lock for two threads, with stores that are only `release`.
 *
 * On x86 such a store is a plain `mov`, which can wait in the store buffer while the loop below already reads the
 * other thread's flag: both threads get in.
 *
 * expect check: unsafe
 * expect robust: not robust
 * expect fences: 2
 */
#include <assert.h>
#include <stdatomic.h>

atomic_int flag[2];
atomic_int turn;
int inside;

void worker(int self)
{
    int other = 1 - self;
    atomic_store_explicit(&flag[self], 1, memory_order_release);
    atomic_store_explicit(&turn, other, memory_order_release);
    while (atomic_load_explicit(&flag[other], memory_order_acquire) &&
           atomic_load_explicit(&turn, memory_order_acquire) == other)
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&flag[self], 0, memory_order_release);
}
