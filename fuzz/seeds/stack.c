// A lock-free stack, for the target `compiled` and for the tests of weir-x86.
#include <stdatomic.h>
#include <assert.h>
struct node { struct node *next; _Atomic int value; short tags[3]; };
struct node nodes[4];
_Atomic(struct node *) top;
static const int weights[4] = { 3, 1, 4, 1 };
__thread int mine;
int common[8];
static inline int weigh(int at) { return weights[at & 3] + mine; }
void setup(int count) { for (int i = 0; i < count; i++) nodes[i].next = &nodes[(i + 1) & 3]; top = nodes; }
void push(struct node *node) {
    struct node *old = atomic_load(&top);
    do { node->next = old; } while (!atomic_compare_exchange_weak(&top, &old, node));
}
int pop(int at) {
    struct node *old = atomic_load(&top);
    while (old && !atomic_compare_exchange_weak(&top, &old, old->next)) { }
    assert(old || at);
    switch (at) { case 0: return 7; case 1: return common[2]; case 2: return common[at]; case 3: return -1; case 4: return 9; }
    return old ? atomic_fetch_add(&old->value, at) : 0;
}
int heavy(int at) { return weigh(at); }
