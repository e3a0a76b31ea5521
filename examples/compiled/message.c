/* A message is passed through plain variables: a data race, and undefined behaviour in C. x86 cannot show it, since
 * stores leave the buffer in order and loads are made in order; a compiler could. `volatile` keeps this one from it.
 *
 * expect check: safe
 * expect robust: robust
 */
#include <assert.h>

volatile int data, ready;

void sender(void)
{
    data = 42;
    ready = 1;
}

void receiver(void)
{
    if (ready)
        assert(data == 42);
}
