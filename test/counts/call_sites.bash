# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# Read by test/counts/run and bench/call_sites, which set `compiler`, an array, and `work`, a folder
# for what is compiled. A call site is named OPERATION/TOKEN/LEVEL, async_lock/callback/-O2 say; see
# call_site.cpp. What one more of them costs is what 2n cost more than n; the first of a file costs
# more, as what all calls share is compiled with it.

# object_of NAME N
object_of() { echo "$work/${1//\//-}-$2.o"; }

# compile_calls NAME N [OPTION...]: to their object; what the compiler says, to a file beside it.
compile_calls() {
  local operation token level object
  IFS=/ read -r operation token level <<<"$1"
  object=$(object_of "$1" "$2")
  "${compiler[@]}" "$level" "-DOPERATION_$operation" "-DTOKEN_$token" "-DCALLS=$2" "${@:3}" \
    -c "${BASH_SOURCE[0]%/*}/call_site.cpp" -o "$object" >"$object.said" 2>&1 ||
    { head -20 "$object.said" >&2; rm -f "$object"; return 1; }
}

# headers_of NAME: what its calls include, precompiled, which is most of what compiling them takes.
headers_of() {
  local operation token level folder
  IFS=/ read -r operation token level <<<"$1"
  folder=$work/$operation$level
  if [[ ! -e $folder ]]; then
    mkdir "$folder"
    cp "${BASH_SOURCE[0]%/*}/call_site.hpp" "$folder"
    "${compiler[@]}" "$level" "-DOPERATION_$operation" -x c++-header "$folder/call_site.hpp" >&2 || return
  fi
  echo "$folder/call_site.hpp"
}

# compile_calls_alone NAME N: once, without what their headers take, and with the compiler's report.
compile_calls_alone() {
  local headers
  [[ ! -e $(object_of "$1" "$2") ]] || return 0
  headers=$(headers_of "$1") || return
  compile_calls "$@" -include "$headers" -ftime-report
}

# text_of_calls NAME N: bytes of code, constants, and tables for exceptions.
text_of_calls() {
  compile_calls_alone "$1" "$2" || return
  size "$(object_of "$1" "$2")" | awk 'NR == 2 { print $1 }'
}

# megabytes_of: of a report by -ftime-report, what the compiler has asked for in all.
megabytes_of() { sed -n 's/^ TOTAL .* \([0-9]*\)M$/\1/p'; }

# megabytes_of_calls NAME N
megabytes_of_calls() { compile_calls_alone "$1" "$2" && megabytes_of <"$(object_of "$1" "$2").said"; }

# for_calls FIGURE NAME FROM TO: what FIGURE_of_calls tells of TO calls, less what it does of FROM.
for_calls() {
  local less more
  less=$("$1_of_calls" "$2" "$3") || return
  more=$("$1_of_calls" "$2" "$4") || return
  awk -v more="$more" -v less="$less" 'BEGIN { printf "%.7g\n", more - less }'
}
