void __CPROVER_assume(_Bool condition);
void __CPROVER_assert(_Bool condition, const char *text);
void __CPROVER_atomic_begin(void);
void __CPROVER_atomic_end(void);
int64_t nondet_int64(void); /* any value: CBMC takes functions of such names to return anything */
#define ASSUME(condition) __CPROVER_assume(condition)
#define ASSERT(condition, text) __CPROVER_assert(condition, text)
#define ATOMIC_BEGIN() __CPROVER_atomic_begin()
#define ATOMIC_END() __CPROVER_atomic_end()
#define NONDET() nondet_int64()
