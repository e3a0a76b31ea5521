/* A ticket lock: tickets are drawn with an atomic addition, and served in order.
 *
 * expect check: safe
 * expect robust: robust
 * expect fences: 0
 */
#include <assert.h>
#include <stdatomic.h>

struct ticket_lock {
    atomic_uint next;
    atomic_uint serving;
};

struct ticket_lock tickets;
int counter;

void worker(struct ticket_lock *lock)
{
    unsigned int mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&lock->serving, memory_order_acquire) != mine)
        ;
    int before = counter;
    counter = before + 1;
    assert(counter == before + 1);
    atomic_store_explicit(&lock->serving, mine + 1, memory_order_release);
}
