#!/usr/bin/env bash
# Prints the oldest glibc with which a program starts: the newest version that one of its symbols asks for, as 2.34.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 PROGRAM" >&2 && exit 2; }
objdump -T "$1" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9][0-9.]*\).*/\1/p' | sort -uV | tail -n 1 | grep .
