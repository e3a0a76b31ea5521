
/* ------------------------------------------------------------------------------------------------------------------
 * From here on the text is the same for every program: it runs the threads again and again, in batches of independent
 * instances, and counts the outcomes.
 * ---------------------------------------------------------------------------------------------------------------- */

#define MOST_OUTCOMES 4096

struct outcome {
    uint64_t count;
    int64_t seen[SEEN];
};

static size_t batch;
static struct cells *instances;
static atomic_int *gates;
static pthread_barrier_t barrier;
static atomic_int is_over;
static uint64_t seed = 1;
static struct outcome outcomes[MOST_OUTCOMES];
static size_t distinct;

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits until all threads have come to the instance, but not for long: a thread may not be scheduled. */
static void meet(atomic_int *gate, struct helper *self)
{
    atomic_fetch_add(gate, 1);
    for (int spins = 0; spins < 2000 && atomic_load_explicit(gate, memory_order_relaxed) < THREADS; spins++)
        relax();
    for (uint64_t delay = choose(self, 4) == 0 ? choose(self, 64) : 0; delay > 0; delay--)
        atomic_signal_fence(memory_order_seq_cst);
}

/* One thread per processor, if there are enough of them. */
static void settle(size_t number)
{
#ifdef __linux__
    cpu_set_t allowed, own;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < THREADS)
        return;
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &allowed) && number-- == 0) {
            CPU_ZERO(&own);
            CPU_SET(processor, &own);
            sched_setaffinity(0, sizeof own, &own);
            return;
        }
    }
#else
    (void)number;
#endif
}

static void *work(void *argument)
{
    size_t number = *(const size_t *)argument;
    struct helper self = {(seed + number) * UINT64_C(0x9E3779B97F4A7C15) | 1, 0, 0};
    settle(number);
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (atomic_load(&is_over))
            return NULL;
        for (size_t instance = 0; instance < batch; instance++) {
            self.waits = self.steps = 0;
            meet(&gates[instance], &self);
            bodies[number](&instances[instance], &results[number][instance], &self);
        }
        pthread_barrier_wait(&barrier);
    }
}

/* Counts an outcome; false if there is no room for it. */
static int record(const int64_t *seen)
{
    for (size_t known = 0; known < distinct; known++) {
        int is_same = 1;
        for (size_t at = 0; at < SEEN; at++)
            is_same &= outcomes[known].seen[at] == seen[at];
        if (is_same) {
            outcomes[known].count++;
            return 1;
        }
    }
    if (distinct == MOST_OUTCOMES)
        return 0;
    outcomes[distinct].count = 1;
    for (size_t at = 0; at < SEEN; at++)
        outcomes[distinct].seen[at] = seen[at];
    distinct++;
    return 1;
}

static int by_values(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    for (size_t at = 0; at < SEEN; at++) {
        if (a->seen[at] != b->seen[at])
            return a->seen[at] < b->seen[at] ? -1 : 1;
    }
    return 0;
}

static void *array(size_t count, size_t size)
{
    void *memory = aligned_alloc(64, (count * size + 63) / 64 * 64);
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static uint64_t number_of(const char *text, const char *what)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0' || number == 0) {
        fprintf(stderr, "%s must be a positive number\n", what);
        exit(2);
    }
    return number;
}

/* Runs one batch; adds up how its instances ended. */
static void run_batch(uint64_t ends[4], uint64_t *lost)
{
    for (size_t instance = 0; instance < batch; instance++) {
        reset(&instances[instance]);
        atomic_store(&gates[instance], 0);
    }
    pthread_barrier_wait(&barrier); /* start */
    pthread_barrier_wait(&barrier); /* all are done */
    for (size_t instance = 0; instance < batch; instance++) {
        int worst = DONE;
        for (size_t thread = 0; thread < THREADS; thread++)
            worst = results[thread][instance].end > worst ? results[thread][instance].end : worst;
        ends[worst]++;
        if (worst == DONE) {
            int64_t seen[SEEN] = {0};
            observe(&instances[instance], instance, seen);
            if (!record(seen))
                ++*lost;
        }
    }
}

/* Prints the outcomes and what they say about the conditions; true if nothing was violated. */
static int report(uint64_t runs, const uint64_t ends[4], uint64_t lost)
{
    int is_fine = ends[FAILED] == 0;
    qsort(outcomes, distinct, sizeof outcomes[0], by_values);
    printf("%" PRIu64 " runs of %d threads\n", runs, THREADS);
    for (size_t known = 0; known < distinct; known++) {
        printf("%10" PRIu64 " ", outcomes[known].count);
        for (size_t at = 0; names[at] != NULL; at++)
            printf(" %s=%" PRId64, names[at], outcomes[known].seen[at]);
        putchar('\n');
    }
    for (size_t at = 0; conditions[at].text != NULL; at++) {
        uint64_t holds = 0, fails = 0;
        for (size_t known = 0; known < distinct; known++) {
            if (conditions[at].holds(outcomes[known].seen))
                holds += outcomes[known].count;
            else
                fails += outcomes[known].count;
        }
        if (conditions[at].is_exists)
            printf("%s: observed %" PRIu64 " times\n", conditions[at].text, holds);
        else
            printf("%s: violated %" PRIu64 " times\n", conditions[at].text, fails);
        is_fine &= conditions[at].is_exists || fails == 0;
    }
    if (ends[FAILED] > 0)
        printf("%" PRIu64 " runs failed an assertion\n", ends[FAILED]);
    if (ends[BLOCKED] > 0)
        printf("%" PRIu64 " runs did not end: a thread waited in vain\n", ends[BLOCKED]);
    if (ends[CUT] > 0)
        printf("%" PRIu64 " runs did not end: a thread went on for too long\n", ends[CUT]);
    if (lost > 0)
        printf("%" PRIu64 " runs had further outcomes, not counted\n", lost);
#if !defined(__x86_64__) && !defined(__i386__)
    puts("note: this processor is not an x86; it may show outcomes that TSO does not have");
#endif
    return is_fine;
}

int main(int argc, char **argv)
{
    uint64_t wanted = argc > 1 ? number_of(argv[1], "RUNS") : 1000000;
    static size_t numbers[THREADS];
    static pthread_t threads[THREADS];
    uint64_t runs = 0, ends[4] = {0}, lost = 0;
    if (argc > 3) {
        fprintf(stderr, "usage: %s [RUNS [SEED]]\n", argv[0]);
        return 2;
    }
    if (argc > 2)
        seed = number_of(argv[2], "SEED");
    batch = (size_t)4 << 20;
    batch /= sizeof(struct cells);
    batch = batch > 1024 ? 1024 : batch < 1 ? 1 : batch;
    batch = batch > wanted ? (size_t)wanted : batch;
    instances = array(batch, sizeof *instances);
    gates = array(batch, sizeof *gates);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (size_t thread = 0; thread < THREADS; thread++) {
        results[thread] = array(batch, sizeof *results[thread]);
        numbers[thread] = thread;
        if (pthread_create(&threads[thread], NULL, work, &numbers[thread]) != 0) {
            fputs("cannot start a thread\n", stderr);
            return 2;
        }
    }
    for (; runs < wanted; runs += batch)
        run_batch(ends, &lost);
    atomic_store(&is_over, 1);
    pthread_barrier_wait(&barrier);
    for (size_t thread = 0; thread < THREADS; thread++)
        pthread_join(threads[thread], NULL);
    return report(runs, ends, lost) ? 0 : 1;
}
