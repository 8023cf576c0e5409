# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# Prints the names that a header makes public, one a line: those of namespaces, but for detail, and
# the public members of classes.

{ sub(/\/\/.*/, ""); if ($0 !~ /^ *#/) text = text $0 " " }

# Returns the text behind the bracket that closes the one that `head` ends with; the text begins with head.
function behind(d, head, open, close_,    i, depth, c) {
  if (!match(d, head)) return d
  depth = 1
  for (i = RSTART + RLENGTH; depth; i++) {
    c = substr(d, i, 1)
    if (c == "") return ""
    depth += (c == open) - (c == close_)
  }
  return substr(d, i)
}

# Returns the declaration without its template<> and requires-clauses.
function bare(d) {
  while (d ~ /^ *template *</) d = behind(d, "^ *template *<", "<", ">")
  if (d ~ /^ *requires *\(/) d = behind(d, "^ *requires *\\(", "(", ")")
  else if (d ~ /^ *requires /) {
    sub(/^ *requires [a-z_:]+/, "", d)
    if (d ~ /^</) d = behind(d, "^<", "<", ">")
    sub(/^::value/, "", d)
  }
  gsub(/\[\[[^]]*\]\]|ASIO_SYNC_[A-Z_]+|BOOST_ASIO_[A-Z_]+/, "", d)
  gsub(/^ +| +$/, "", d)
  return d
}

function declare(d) {
  if (d ~ /^[):,]/) return  # behind a default argument {}
  if (d ~ /^(friend|static_assert|namespace|extern)[ (]/ || d == "") return
  if (d ~ /^using /) {
    sub(/^using +(namespace .*)?(typename +)?/, "", d)
    sub(/ *=.*/, "", d)
    if (d ~ /::lock_guard::lock_guard$/) return  # constructors
    sub(/.*::/, "", d)
  } else if (d ~ /^(class|struct|enum) /) {
    sub(/^(class|struct|enum( class)?) +/, "", d)
    sub(/[^a-zA-Z0-9_].*/, "", d)
  } else if (d ~ /(^| )operator/) {
    if (d !~ /operator bool/) return
    d = "operator bool"
  } else {
    sub(/ *\(.*/, "", d)
    sub(/ *=.*/, "", d)
    if (d ~ /~|::[a-z_]+$/) return  # a destructor; a definition outside of its class
    sub(/.*[^a-zA-Z0-9_]/, "", d)
  }
  if (d != "") print d
}

# True if what is declared at this depth of braces is public.
function is_public(depth) {
  return kind[depth] == "namespace" || (kind[depth] == "class" && access[depth] == "public")
}

# Takes the text of a declaration, and the labels before it.
function take(d) {
  gsub(/^ +| +$/, "", d)
  while (match(d, /^(public|private|protected) *: */)) {
    access[top] = d ~ /^public/ ? "public" : "private"
    d = substr(d, RLENGTH + 1)
  }
  return bare(d)
}

END {
  top = 0
  kind[0] = "namespace"
  for (at = 1; at <= length(text); at++) {
    c = substr(text, at, 1)
    if (c == "{") {
      d = kind[top] == "other" ? "" : take(statement)
      if (is_public(top)) declare(d)
      top++
      kind[top] = "other"
      if (d ~ /^namespace/ && d !~ /detail/) kind[top] = "namespace"
      if (d ~ /^(class|struct) / && d !~ /promise_type/ && kind[top - 1] != "other") {
        kind[top] = is_public(top - 1) ? "class" : "other"
        access[top] = d ~ /^struct/ ? "public" : "private"
      }
      statement = ""
    } else if (c == "}") {
      top--
      statement = ""
    } else if (c == ";") {
      d = kind[top] == "other" ? "" : take(statement)
      if (is_public(top)) declare(d)
      statement = ""
    } else {
      statement = statement c
    }
  }
}
