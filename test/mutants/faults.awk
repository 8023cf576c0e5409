# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# Reads the file of faults. Variables: `include`, the folder of the headers; `only`, a name: prints
# the header with this fault. Without a name, prints a message for each fault that does not fit.

function text_of(file,    text, line) {
  if (!(file in texts)) {
    while ((getline line < file) > 0) text = text line "\n"
    close(file)
    texts[file] = text
  }
  return texts[file]
}

function finish(    text, at, rest) {
  if (name == "") return
  text = text_of(include "/" header)
  at = code == "" ? 0 : index(text, code)
  rest = substr(text, at + length(code))
  if (!at || index(rest, code)) {
    print "mutants: " name ": what it replaces does not stand in " header " exactly once"
    status = 1
  } else if (only != "") {
    printf "%s", substr(text, 1, at - 1) fault rest
  }
  name = ""
}

function joined(text, first, line) { return (first ? "" : text "\n") substr(line, 3) }

/^[a-z]/ && (only == "" || $1 == only) {
  finish()
  name = $1; header = $2; code = fault = ""; parts = changes = 0
  next
}
name == "" { next }
/^- / { code = joined(code, !parts++, $0); next }
/^\+ / { fault = joined(fault, !changes++, $0); next }
{ finish() }

END {
  finish()
  exit status
}
