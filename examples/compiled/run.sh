#!/bin/sh
# Builds all examples at -O0 and -O2 with each compiler that is installed, and asks Weir about each, next to what its
# header expects. An answer must come within 10 seconds and 1 GiB.
# Compilers: gcc, clang and rustc, or those in $COMPILERS. Weir: `weir`, or the program in $WEIR.
set -u
cd "$(dirname "$0")" || exit 2
build=$(mktemp -d) || exit 2
trap 'rm -rf "$build"' EXIT
failed=0
asked_any=0

# compile COMPILER LEVEL SOURCE
compile() {
    case "$1 $2" in
        "rustc -O0") "$1" --edition 2024 --crate-type lib --emit obj -g -C panic=abort "$3" -o "$build/$name.o" ;;
        "rustc "*) "$1" --edition 2024 --crate-type lib --emit obj -g -O -C panic=abort "$3" -o "$build/$name.o" ;;
        *) "$1" -g "$2" -c "$3" -o "$build/$name.o" ;;
    esac
}

for compiler in ${COMPILERS:-gcc clang rustc}; do
    command -v "$compiler" >/dev/null || continue
    case $compiler in *rustc) sources=$(ls ./*.rs) ;; *) sources=$(ls ./*.c) ;; esac
    for source in $sources; do
        name=$(basename "$source" | sed 's/\.[a-z]*$//')
        for level in -O0 -O2; do
            compile "$compiler" "$level" "$source" || exit 2
            cp "$name.weir.toml" "$build/$name.weir.toml"
            for command in check robust fences remove; do
                expected=$(sed -n "s/^\( \*\|\/\/!\) expect \($level \)\{0,1\}$command: //p" "$source")
                [ -n "$expected" ] || continue
                asked=$command
                [ "$command" != remove ] || asked="fences --remove"
                # shellcheck disable=SC2086
                answer=$(${WEIR:-weir} $asked -q --timeout 10s --memory 1GiB "$build/$name.o" 2>&1 | head -n 1)
                case "$command $expected" in
                    "fences 0") pattern="no fences needed*" ;;
                    "fences 1") pattern="1 fence *" ;;
                    "fences "*) pattern="$expected fences*" ;;
                    *) pattern="$expected*" ;;
                esac
                # shellcheck disable=SC2254
                case "$answer" in
                    $pattern) result=ok ;;
                    *) result=WRONG failed=1 ;;
                esac
                asked_any=1
                printf '%-5s %-18s %-5s %s %-7s %s\n' "$result" "$name" "$compiler" "$level" "$command" "$answer"
            done
        done
    done
done
[ "$asked_any" = 1 ] || { echo "no compiler is installed"; exit 2; }
exit $failed
