/* The work-stealing deque of Chase and Lev, for one item that its owner and a thief both want.
 *
 * The owner's fence in `take` is needed: without it the new `bottom` waits in the buffer while `top` is read, and both
 * get the item.
 *
 * expect check: safe
 */
#include <assert.h>
#include <stdatomic.h>

#define EMPTY (-1)
#define SIZE 4

#ifndef TAKE_ORDER
#define TAKE_ORDER memory_order_seq_cst
#endif

static atomic_long top, bottom;
static atomic_int items[SIZE];
static atomic_int taken[2];

static void push(int item)
{
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&items[b % SIZE], item, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void)
{
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    atomic_thread_fence(TAKE_ORDER);
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    int item = EMPTY;
    if (t <= b) {
        item = atomic_load_explicit(&items[b % SIZE], memory_order_relaxed);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
                item = EMPTY;
            atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        }
    } else {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return item;
}

static int steal(void)
{
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    int item = EMPTY;
    if (t < b) {
        item = atomic_load_explicit(&items[t % SIZE], memory_order_relaxed);
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
            return EMPTY;
    }
    return item;
}

static void use(int item)
{
    if (item != EMPTY)
        assert(atomic_fetch_add_explicit(&taken[item], 1, memory_order_relaxed) == 0);
}

void owner(void)
{
    push(0);
    push(1);
    use(take());
    use(take());
}

void thief(void)
{
    use(steal());
    use(steal());
}
