/* Treiber's stack. Each thread pushes a node of its own and pops one.
 *
 * expect check: safe
 * expect robust: robust
 */
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *next;
    int value;
};

struct node nodes[2];
_Atomic(struct node *) top;

static void push(struct node *node)
{
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do {
        node->next = old;
    } while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_release, memory_order_relaxed));
}

static struct node *pop(void)
{
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old != NULL &&
           !atomic_compare_exchange_weak_explicit(&top, &old, old->next, memory_order_acquire, memory_order_acquire))
        ;
    return old;
}

void worker(struct node *mine, int value)
{
    mine->value = value;
    push(mine);
    struct node *got = pop();
    assert(got != NULL);
    assert(got->value != 0);
}
