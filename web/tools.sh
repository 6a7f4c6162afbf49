# For the scripts beside it: leave with 77, skipped, and a line that says why, unless all tools are there.
for tool in clang wasm-ld cmake node npm gzip zopfli; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: no $tool (Debian: clang lld cmake nodejs npm zopfli; tools/setup.sh web installs them)"
        exit 77
    fi
done
