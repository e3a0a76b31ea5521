/* The work-stealing deque with a fence that is too weak: `acq_rel` is no instruction at all on x86.
 *
 * expect check: unsafe
 * expect robust: not robust
 */
#define TAKE_ORDER memory_order_acq_rel
#include "deque.c"
