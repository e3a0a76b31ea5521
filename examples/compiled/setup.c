/* A list that is built before the threads start (`init`), and from which both take nodes.
 *
 * expect check: safe
 * expect robust: robust
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

struct list {
    _Atomic(struct node *) head;
};

struct list list;
int sum[2];

void setup(struct list *all, int count)
{
    for (int value = 1; value <= count; value++) {
        struct node *node = malloc(sizeof *node);
        node->value = value;
        node->next = atomic_load(&all->head);
        atomic_store(&all->head, node);
    }
}

void worker(struct list *all, int self)
{
    struct node *node = atomic_load_explicit(&all->head, memory_order_acquire);
    while (node && !atomic_compare_exchange_weak(&all->head, &node, node->next))
        ;
    assert(node);
    sum[self] = node->value;
}
