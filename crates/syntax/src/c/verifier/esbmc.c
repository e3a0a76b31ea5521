void __ESBMC_assume(_Bool condition);
void __ESBMC_assert(_Bool condition, const char *text);
void __ESBMC_atomic_begin(void);
void __ESBMC_atomic_end(void);
long nondet_long(void); /* any value; ESBMC must be told that a long has 64 bits (--64, its default on such machines) */
#define ASSUME(condition) __ESBMC_assume(condition)
#define ASSERT(condition, text) __ESBMC_assert(condition, text)
#define ATOMIC_BEGIN() __ESBMC_atomic_begin()
#define ATOMIC_END() __ESBMC_atomic_end()
#define NONDET() ((int64_t)nondet_long())
