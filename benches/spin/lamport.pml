/* The automaton of examples/mutex/lamport.weir for SPIN: the same steps, one SPIN statement for each.
 *
 *   spin -a -DN=4 lamport.pml
 *   gcc -O2 -DSAFETY -DNOREDUCE -DMEMLIM=16000 -o pan pan.c
 *   ./pan -m100000 -w24
 *
 * SPIN clears registers where they are dead (unless told not to with -o2), and counts, without other reductions,
 *
 *       N = 3             7118 states
 *       N = 4           253656 states
 *       N = 5         10316682 states
 *
 * which are exactly the states of the automaton: a thread that has passed waits at a valid end state instead of ending,
 * because SPIN ends processes in a last-in-first-out order and would count every stage of that as states of its own.
 *
 * With -DENDS the threads do end, and each test is followed by a `skip`, as one is tempted to write in Promela. That adds
 * states that are no part of the algorithm: 11129 for N = 3, 424493 for N = 4 and 18150997 for N = 5.
 */

#ifndef N
#define N 3
#endif

#ifdef ENDS
#define THEN -> skip
#else
#define THEN
#endif

byte x, y;

active [N] proctype P() {
    byte i, rx, ry;

    i = _pid + 1;
start:
    x = i;
    ry = y;
    if
    :: ry != 0 -> goto start
    :: ry == 0 THEN
    fi;
    y = i;
    rx = x;
    if
    :: rx == i
    :: rx != i THEN;
       ry = y;
end_stopped:                            /* a thread that still owns `y` stops here, which is no error */
       ry != i -> goto start
    fi;
critical:
#ifdef ENDS
    y = 0
#else
    y = 0;
end_passed:
    false
#endif
}
