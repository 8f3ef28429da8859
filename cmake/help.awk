# SPDX-License-Identifier: Apache-2.0
# Reads `stab --help` (or a job's) and prints one line for each option, tab-separated: group, names, argument, description.
# Positional arguments have a name without dashes.
function flush() {
  if (names != "") printf "%s\t%s\t%s\t%s\n", group, names, argument, text
  names = argument = text = ""
}
/^[A-Z][A-Za-z ]*:$/ { flush(); group = substr($0, 1, length($0) - 1); next }
/^[^ ]/ { flush(); group = ""; next }
group == "" || group == "Subcommands" { next }
/^  [^ ]/ {
  flush()
  line = substr($0, 3)
  # The description starts in column 30, on this line or on the next.
  head = line; rest = ""
  if (length($0) > 30 && substr($0, 30, 1) == " " && substr($0, 31, 1) != " ") {
    head = substr($0, 3, 27); rest = substr($0, 31)
  }
  sub(/ +$/, "", head)
  count = split(head, words, " ")
  names = words[1]
  for (i = 2; i <= count; ++i) {
    if (words[i] ~ /^-/) names = names " " words[i]
    else argument = argument (argument == "" ? "" : " ") words[i]
  }
  gsub(/,/, " ", names); gsub(/  +/, " ", names)
  text = rest
  next
}
/^                              [^ ]/ { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
END { flush() }
