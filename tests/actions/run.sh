#!/usr/bin/env bash
# run.sh: what the flags of a build do to its actions; needs a Bazel around it, so it is no Bazel test.
#
# The tools are built once, for the execution platform, whatever the flags of rules/settings say and however many
# GPU architectures there are; the actions that a flag is about do change. Exit code: 0 all as expected, 1 not.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
subject=//tests/analysis:embed
failed=0

# actions FLAG...: `CONFIGURATION KEY` of every action behind the subject.
actions() {
  local line configuration=
  ./bazelw aquery --noshow_progress "deps($subject)" "$@" 2>/dev/null | while read -r line; do
    case $line in
      "Configuration: "*) configuration=${line#Configuration: } ;;
      "ActionKey: "*) echo "$configuration ${line#ActionKey: }" ;;
    esac
  done
}

expect() {
  if [ "$2" "$3" "$4" ]; then
    echo "PASSED: $1"
  else
    echo "FAILED: $1"
    failed=1
  fi
}

plain=$(actions)
tools=$(grep -e '-exec' <<<"$plain" | sort)
rest=$(grep -v -e '-exec' <<<"$plain" | sort)
expect "the tools take actions" "$(wc -l <<<"$tools")" -gt 100
expect "the tools are built in one configuration for four architectures" "$(cut -d' ' -f1 <<<"$tools" | sort -u | wc -l)" = 1

for flag in --//rules/settings:ptx=only --//rules/settings:ptx=forbid --//rules/settings:required_archs=sm_90,gfx1100; do
  flagged=$(actions "$flag")
  expect "$flag changes its actions" "$(grep -v -e '-exec' <<<"$flagged" | sort)" != "$rest"
  expect "$flag leaves the tools alone" "$(grep -e '-exec' <<<"$flagged" | sort)" = "$tools"
done
exit "$failed"
