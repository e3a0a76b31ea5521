/* Peterson's lock for two threads, with one store that is `seq_cst`.
 *
 * A sequentially consistent store is an `xchg`, which empties the buffer before the loop. The first store needs no more
 * than `release`: the buffer is first in, first out.
 *
 * expect check: safe
 * expect robust: robust
 * expect fences: 0
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
    atomic_store_explicit(&turn, other, memory_order_seq_cst);
    while (atomic_load_explicit(&flag[other], memory_order_acquire) &&
           atomic_load_explicit(&turn, memory_order_acquire) == other)
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&flag[self], 0, memory_order_release);
}
