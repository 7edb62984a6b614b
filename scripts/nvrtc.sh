#!/bin/sh
# Downloads NVRTC 11.8 of Debian 12 to .deps/nvrtc, to compile kernels on a machine
# without CUDA, and prints the path of the library:
#
#	HIVEBLAS_NVRTC=$(scripts/nvrtc.sh) go test ./cusparse/...
set -eu
cd "$(dirname "$0")/.."
dir=.deps/nvrtc
found() { find "$dir" -name 'libnvrtc.so.*' 2>/dev/null | sort | head -n 1; }
if [ -z "$(found)" ] || [ -z "$(find "$dir" -name 'libnvrtc-builtins.so.*')" ]; then
	sh scripts/debian-nonfree.sh "$dir" libnvrtc11.2 libnvrtc-builtins11.8
fi
library=$(found)
[ -n "$library" ] || { echo "$0: the packages do not contain libnvrtc" >&2; exit 1; }
echo "$PWD/$library"
