#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the man page and the completions of bash and zsh from what the built stab says of itself, so that they cannot differ
# from it.
# usage: make_docs.sh STAB SOURCE_FOLDER OUTPUT_FOLDER
set -eu
stab=$1 source=$2 output=$3
jobs=$("$stab" --help | awk '/^Subcommands:$/ { on = 1; next } on && /^  [a-z]/ { print $1 }')
[ -n "$jobs" ] || { echo "make_docs: stab --help names no jobs" >&2; exit 1; }
mkdir -p "$output"

options_of() { # options_of [JOB]: its options, one a line
  # shellcheck disable=SC2086 # no word at all for the main job
  "$stab" ${1:-} --help | awk -f "$source/cmake/help.awk"
}

about() { # about JOB: what it does
  "$stab" --help | awk -v job="$1" '
    on && /^  [^ ]/ { exit }
    /^Subcommands:$/ { inside = 1 }
    inside && $1 == job { on = 1; $1 = "" }
    on { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
    END { print text }'
}

# Text as roff takes it: no character of it is a request or an escape.
roff() { sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"; }

man_options() { # man_options FILE_OF_OPTIONS
  awk -F '\t' '
    function safe(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); sub(/^[.\x27]/, "\\\\\\&&", text); return text }
    $1 != group { group = $1; print ".SS " safe(group) }
    {
      count = split($2, names, " ")
      line = ""
      for (i = 1; i <= count; ++i) line = line (i > 1 ? "\\fR, " : "") "\\fB" safe(names[i])
      if ($3 != "") line = line "\\fR \\fI" safe($3)
      print ".TP\n" line "\\fR\n" safe($4)
    }'
}

{
  version=$("$stab" --version | awk '{ print $2 }')
  echo ".\\\" Made from stab --help; do not edit."
  echo ".TH STAB 1 \"2026-11-29\" \"stab $version\" \"User Commands\""
  cat "$source/docs/stab.1.head"
  echo ".SH OPTIONS"
  options_of | man_options
  echo ".SH JOBS"
  for job in $jobs; do
    echo ".SS stab $job"
    about "$job" | roff
    echo ".PP"
    echo "Options beside those of the same name above:" | roff
    # Only what the main job does not have, or says otherwise.
    options_of >"$output/.main"
    options_of "$job" | awk -F '\t' 'NR == FNR { seen[$2 $3 $4] = 1; next } !seen[$2 $3 $4]' "$output/.main" - |
      awk -F '\t' 'BEGIN { OFS = "\t" } { $1 = ""; print }' |
      man_options | grep -v '^\.SS $' || true
    echo ".PP"
    printf 'Also: '
    options_of "$job" | awk -F '\t' 'NR == FNR { seen[$2 $3 $4] = 1; next } seen[$2 $3 $4] { n = split($2, a, " "); printf "%s%s", (started++ ? ", " : ""), a[n] } END { print "." }' "$output/.main" - | roff
  done
  rm -f "$output/.main"
  cat "$source/docs/stab.1.tail"
} >"$output/stab.1"

# What the argument of an option may be: words to choose from, files, folders, hosts; or nothing that can be known.
kind_of() { # of names, argument
  case $2 in
    '') echo flag ;;
    FILE | FILE...) echo file ;;
    DIR) echo folder ;;
    HOST) echo host ;;
    *[!a-z\|]*) echo text ;;
    *\|*) echo "$2" ;;
    *) echo text ;;
  esac
}

bash_cases() { # bash_cases JOB: what follows each option that takes something
  options_of "${1#main}" | while IFS='	' read -r _ names argument _; do
    kind=$(kind_of "$names" "$argument")
    pattern=$(echo "$names" | sed 's/ / | /g')
    case $kind in
      flag | text) ;;
      file | folder | host) echo "      $pattern) _stab_$kind \"\$cur\"; return ;;" ;;
      *) echo "      $pattern) mapfile -t COMPREPLY < <(compgen -W '$(echo "$kind" | tr '|' ' ')' -- \"\$cur\"); return ;;" ;;
    esac
  done
}

words_of() { options_of "${1#main}" | awk -F '\t' '$2 ~ /^-/ { printf "%s%s", (started++ ? " " : ""), $2 }'; }
silent_of() { # options whose argument cannot be known
  options_of "${1#main}" | while IFS='	' read -r _ names argument _; do
    if [ "$(kind_of "$names" "$argument")" = text ]; then echo "$names"; fi
  done | tr '\n' ' ' | sed -e 's/ $//' -e 's/ / | /g'
}

{
  echo "# bash completion of stab; made from stab --help, do not edit."
  cat "$source/docs/stab.bash.head"
  echo "  case \$job in"
  for job in main $jobs; do
    echo "    $job)"
    echo "      words='$(words_of "$job")'"
    [ "$job" != main ] || echo "      [ \"\$COMP_CWORD\" -ne 1 ] || words=\"\$words $(echo "$jobs" | tr '\n' ' ' | sed 's/ $//')\""
    echo "      case \$prev in"
    bash_cases "$job" | sed 's/^    /        /'
    silent=$(silent_of "$job")
    [ -z "$silent" ] || echo "          $silent) return ;;"
    echo "      esac"
    [ "$job" != compare ] || echo "      [[ \$cur == -* ]] || { _stab_file \"\$cur\"; return; }"
    echo "      ;;"
  done
  echo "  esac"
  cat "$source/docs/stab.bash.tail"
} | sed "s/@JOBS@/$(echo "$jobs" | tr '\n' '|' | sed -e 's/|$//' -e 's/|/ | /g')/" >"$output/stab.bash"

zsh_specs() { # zsh_specs JOB: arguments of _arguments
  options_of "${1#main}" | while IFS='	' read -r _ names argument text; do
    kind=$(kind_of "$names" "$argument")
    text=$(echo "$text" | sed -e "s/'/'\\\\''/g" -e 's/[][]//g' -e 's/:/\\:/g')
    case $kind in
      flag) tail='' ;;
      file) tail=":FILE:_files" ;;
      folder) tail=":DIR:_files" ;;
      host) tail=":HOST:_stab_hosts" ;;
      text) tail=":$(echo "$argument" | sed -e 's/:/\\:/g' -e 's/[][]//g'): " ;;
      *) tail=":CHOICE:($(echo "$kind" | tr '|' ' '))" ;;
    esac
    case $names in
      -*) for name in $names; do echo "        '*$name""[$text]$tail'"; done ;;
      *) echo "        '*:FILE:_files'" ;;
    esac
  done
}

{
  echo "#compdef stab"
  echo "# zsh completion of stab; made from stab --help, do not edit."
  cat "$source/docs/_stab.head"
  for job in main $jobs; do
    echo "    $job)"
    echo "      specs=("
    zsh_specs "$job"
    echo "      )"
    echo "      ;;"
  done
  cat "$source/docs/_stab.tail"
} | sed "s/@JOBS@/$(echo "$jobs" | tr '\n' ' ' | sed 's/ $//')/" >"$output/_stab"
