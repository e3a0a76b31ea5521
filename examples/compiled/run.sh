#!/bin/sh
# Builds all examples at -O0 and -O2 and asks Weir about each, next to what its header expects.
# Needs gcc (or the compiler in $CC) and `weir` (or the program in $WEIR).
set -u
cd "$(dirname "$0")" || exit 2
build=$(mktemp -d) || exit 2
trap 'rm -rf "$build"' EXIT
failed=0
for source in *.c; do
    name=${source%.c}
    for level in -O0 -O2; do
        ${CC:-gcc} -g "$level" -c "$source" -o "$build/$name.o" || exit 2
        cp "$name.weir.toml" "$build/$name.weir.toml"
        for command in check robust fences remove; do
            expected=$(sed -n "s/^ \* expect \($level \)\{0,1\}$command: //p" "$source")
            [ -n "$expected" ] || continue
            asked=$command
            [ "$command" != remove ] || asked="fences --remove"
            # shellcheck disable=SC2086
            answer=$(${WEIR:-weir} $asked -q "$build/$name.o" 2>&1 | head -n 1)
            case "$command $expected" in
                "fences 0") pattern="no fences needed*" ;;
                "fences "*) pattern="$expected fences*" ;;
                *) pattern="$expected*" ;;
            esac
            # shellcheck disable=SC2254
            case "$answer" in
                $pattern) result=ok ;;
                *) result=WRONG failed=1 ;;
            esac
            printf '%-5s %-16s %s %-7s %s\n' "$result" "$name" "$level" "$command" "$answer"
        done
    done
done
exit $failed
