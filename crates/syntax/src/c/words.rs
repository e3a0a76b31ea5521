//! Names that cannot be used in the C that is written here.

/// Keywords of C, and what the headers and our own helpers define.
pub(super) fn reserved() -> impl Iterator<Item = &'static str> {
    [KEYWORDS, LIBRARY, OURS].into_iter().flat_map(str::split_ascii_whitespace)
}

const KEYWORDS: &str = "alignas alignof asm auto bool break case char complex const constexpr continue default do \
    double else enum extern false float for goto if imaginary inline int long main noreturn \
    nullptr register restrict return short signed sizeof static struct switch thread_local true \
    typedef typeof unsigned void volatile while";

/// Functions, types and macros of the headers that are included, as far as a program may have such names.
const LIBRARY: &str = "abort abs accept access acos alarm aligned_alloc alloca assert atexit atof atoi atol atoll \
    atomic_fetch_add atomic_fetch_and atomic_fetch_or atomic_fetch_sub atomic_fetch_xor \
    atomic_int atomic_load atomic_store bsearch calloc chown clock close connect daemon div \
    div_t double_t drand48 dup environ erand48 errno exit exp fclose fdopen feof ferror fflush \
    fgetc fgetpos fgets fileno FILE fopen fork fprintf fputc fputs fread free freopen fscanf \
    fseek fsetpos ftell ftruncate fwrite getc getchar getenv getopt getpid gets index int8_t \
    int16_t int32_t int64_t intmax_t j0 j1 jn jrand48 kill_dependency labs ldiv link linux llabs \
    lldiv log lrand48 lseek malloc max min mrand48 nice nrand48 NULL off_t open optarg optind \
    pause pclose perror pipe popen pow printf ptrdiff_t puts putc putchar putenv pthread_t qsort \
    rand random read realloc remove rename rewind scanf sched_yield seed48 select setbuf setenv \
    setvbuf signal sin size_t sleep snprintf sprintf sqrt srand srandom ssize_t sscanf stderr \
    stdin stdout strtod strtol strtoll strtoul strtoull sync system tan time tmpfile tmpnam \
    truncate uint uint8_t uint16_t uint32_t uint64_t ungetc unix unlink unsetenv vfprintf \
    vprintf vsprintf wait write y0 y1 yn";

/// What the exports define themselves.
const OURS: &str = "weir_add weir_subtract weir_multiply weir_negate weir_divide weir_remainder weir_shift_left \
    weir_shift_right cell cells self helper held stored loaded blocked failed ended cut out \
    result outcome outcomes load store exchange compare_and_swap compare_exchange fetch_and \
    fetch_or fetch_xor fetch_add fetch_sub fence NONDET nondet_int nondet_long nondet_int64 \
    ASSUME ASSERT ATOMIC_BEGIN ATOMIC_END PROPERTY ALL_DONE SIMULATE CHECKS_ASSERTIONS check \
    stopped unused lock_holder MAY_STOP RUNS BATCH THREADS SEEN DONE BLOCKED FAILED CUT WAITS \
    STEPS choose waits steps seen count argc argv i";
