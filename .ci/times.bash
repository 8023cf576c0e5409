# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# Keeps the times of builds and tests in build/times.tsv: when a step began, its seconds, the stage
# of .ci/run if there is one, and the step. For ./dev and .ci/run, which source this in the folder of
# the project.

# record_time SECONDS STEP
record_time() {
  mkdir -p build
  printf '%(%F %T)T\t%d\t%s\t%s\n' $((EPOCHSECONDS - $1)) "$1" "${ASIO_SYNC_STAGE:--}" "$2" \
    >>build/times.tsv
  printf '%s: %d s\n' "$2" "$1" >&2
}

# timed STEP COMMAND...: returns the status of the command, which is a program.
timed() {
  local step=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  record_time $((SECONDS - start)) "$step"
  return "$status"
}
