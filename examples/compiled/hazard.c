/* A hazard pointer: the reader announces which object it uses, and looks again whether it is still the current one. The
 * writer replaces the object, and frees the old one unless it is announced. Both sides store and then load, so both need
 * a store that is sequentially consistent.
 *
 * expect check: safe
 * expect robust: robust
 */
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

struct object {
    atomic_int is_freed;
};

struct object objects[2];
_Atomic(struct object *) current = &objects[0];
_Atomic(struct object *) hazard;

void reader(void)
{
    struct object *object = atomic_load_explicit(&current, memory_order_acquire);
    for (;;) {
        atomic_store_explicit(&hazard, object, memory_order_seq_cst);
        struct object *again = atomic_load_explicit(&current, memory_order_seq_cst);
        if (again == object)
            break;
        object = again;
    }
    assert(!atomic_load_explicit(&object->is_freed, memory_order_relaxed));
    atomic_store_explicit(&hazard, NULL, memory_order_release);
}

void writer(void)
{
    struct object *old = atomic_exchange_explicit(&current, &objects[1], memory_order_seq_cst);
    if (atomic_load_explicit(&hazard, memory_order_seq_cst) != old)
        atomic_store_explicit(&old->is_freed, 1, memory_order_relaxed);
}
