/* A ring for one producer and one consumer, with the weakest orders that the C standard allows.
 *
 * Every acquire and release is free on x86. Store buffers do show: the producer can read an old `tail` while its
 * `head` still waits. But a stale index only makes the ring look fuller or emptier than it is, so nothing goes wrong.
 *
 * expect check: safe
 */
#include <assert.h>
#include <stdatomic.h>

#define SIZE 2
#define COUNT 3

struct ring {
    atomic_uint head;
    atomic_uint tail;
    int items[SIZE];
};

struct ring ring;

void producer(struct ring *q)
{
    for (int item = 1; item <= COUNT; item++) {
        unsigned int head = atomic_load_explicit(&q->head, memory_order_relaxed);
        while (head - atomic_load_explicit(&q->tail, memory_order_acquire) == SIZE)
            ;
        q->items[head % SIZE] = item;
        atomic_store_explicit(&q->head, head + 1, memory_order_release);
    }
}

void consumer(struct ring *q)
{
    for (int expected = 1; expected <= COUNT; expected++) {
        unsigned int tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
        while (atomic_load_explicit(&q->head, memory_order_acquire) == tail)
            ;
        assert(q->items[tail % SIZE] == expected);
        atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
    }
}
