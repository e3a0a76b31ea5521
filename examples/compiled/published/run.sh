#!/bin/sh
# Builds wrappers around published crates, as ordinary dependencies, and asks Weir about each, next to what its header
# expects; `error` is a refusal, and the header says why. Needs cargo, and `weir` (or the program in $WEIR).
set -u
cd "$(dirname "$0")" || exit 2
build=${CARGO_TARGET_DIR:-$(mktemp -d)} || exit 2
[ -n "${CARGO_TARGET_DIR:-}" ] || trap 'rm -rf "$build"' EXIT
failed=0
cargo fetch --quiet --locked 2>/dev/null || cargo fetch --quiet --locked --offline 2>/dev/null || {
    echo "skipped: the crates can be downloaded neither now nor from what cargo keeps"
    exit 0
}
cargo build --quiet --release --locked --offline --examples --target-dir "$build" || exit 2
for source in examples/*.rs; do
    name=$(basename "$source" .rs)
    cp "$name.weir.toml" "$build/release/examples/lib$name.weir.toml"
    for command in check robust; do
        expected=$(sed -n "s/^\/\/! expect $command: //p" "$source")
        [ -n "$expected" ] || continue
        object=$build/release/examples/lib$name.a
        answer=$(${WEIR:-weir} "$command" -q --timeout 10s --memory 1GiB "$object" 2>&1 | head -n 1)
        case "$answer" in
            "$expected"*) result=ok ;;
            *) result=WRONG failed=1 ;;
        esac
        printf '%-5s %-8s %-7s %s\n' "$result" "$name" "$command" "$answer"
    done
done
exit $failed
