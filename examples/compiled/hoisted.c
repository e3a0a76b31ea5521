/* The source looks right, the compiled code is not: nothing tells the compiler that `ready` can change, so that with
 * optimisation the receiver reads it once and then loops for ever.
 *
 * expect -O0 check: safe
 * expect -O2 check: unsafe
 */
int data, ready;

void sender(void)
{
    data = 42;
    ready = 1;
}

int receiver(void)
{
    while (!ready)
        ;
    return data;
}
