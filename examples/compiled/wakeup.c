/* A mailbox that wakes its reader, by an author who took no chances: every store is sequentially consistent, and so
 * each is an `xchg`.
 *
 * Two of the four are needed: the sender must not look for a sleeper before its message is there, and the receiver must
 * not look for a message before it has said that it is going to sleep. For the other two, `release` is enough.
 *
 * expect check: safe
 * expect robust: robust
 * expect fences: 0
 * expect remove: 2 of 4
 */
#include <assert.h>
#include <stdatomic.h>

atomic_int message, full, sleeping, woken;

void sender(void)
{
    atomic_store(&message, 42);
    atomic_store(&full, 1);
    if (atomic_load(&sleeping))
        atomic_store(&woken, 1);
}

void receiver(void)
{
    atomic_store(&sleeping, 1);
    if (!atomic_load(&full))
        while (!atomic_load(&woken))
            ;
    assert(atomic_load(&message) == 42);
}
