# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# Read by the checks. Goes to the root of the project; from there:
#   sources PATTERN...   lists the tracked files that match, or all of them without git
#   report TEXT          notes a fault; done_checking ends with status 1 if there was one

set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

sources() {
  local pattern file expression=()
  if [[ -e .git ]] && git ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1; then
    git ls-files -- "$@" | while read -r file; do [[ ! -f $file ]] || echo "$file"; done
  else
    for pattern; do expression+=(${expression[@]+-o} -path "./$pattern"); done
    find . \( -path ./build -o -path ./.git \) -prune -o -type f \( "${expression[@]}" \) -print |
      cut -c3- | sort
  fi
}

faults=0
report() {
  echo "$*"
  faults=$((faults + 1))
}

# matches MESSAGE PATTERN FILE...: reports each line of the files that the pattern matches.
matches() {
  local message=$1 pattern=$2 line
  shift 2
  (($#)) || return 0
  while read -r line; do report "$line: $message"; done < <(grep -nHE -e "$pattern" -- "$@")
}

done_checking() {
  ((faults == 0)) || { echo "$faults faults"; exit 1; }
  echo "no faults"
}
