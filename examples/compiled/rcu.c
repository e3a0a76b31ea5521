/* Read-copy-update with `membarrier`: readers only say where they are, with plain stores and no fence; the writer has the
 * system run a fence on all threads, and pays for everyone. Without line 46, a reader's announcement may still be in its
 * store buffer when the writer looks for it: `weir check --function syscall=nothing` finds the access to freed memory.
 *
 * expect check: safe
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMBARRIER_CMD_PRIVATE_EXPEDITED 8

struct config {
    int limit;
};

_Atomic(struct config *) current;
atomic_int reading;

void setup(void)
{
    struct config *first = malloc(sizeof *first);
    first->limit = 10;
    atomic_init(&current, first);
}

int reader(void)
{
    atomic_store_explicit(&reading, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* for the compiler only */
    struct config *config = atomic_load_explicit(&current, memory_order_acquire);
    int limit = config->limit;
    atomic_store_explicit(&reading, 0, memory_order_release);
    return limit;
}

void writer(void)
{
    struct config *old = atomic_load_explicit(&current, memory_order_relaxed);
    struct config *new = malloc(sizeof *new);
    if (!new)
        return;
    new->limit = 20;
    atomic_store_explicit(&current, new, memory_order_release);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    while (atomic_load_explicit(&reading, memory_order_acquire))
        ;
    free(old);
}
