#!/usr/bin/env bash
# run.sh: what the flags of a build do to its actions.
#
# The tools are built once, for the execution platform, whatever the flags of rules/settings say and however many
# GPU architectures there are; the actions that a flag is about do change. Exit code: 0 all as expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
cd "$repo" || exit 1
subject=//tests/analysis:embed

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

plain=$(actions)
tools=$(grep -e '-exec' <<<"$plain" | sort)
rest=$(grep -v -e '-exec' <<<"$plain" | sort)
expect "the tools take actions" [ "$(wc -l <<<"$tools")" -gt 100 ]
expect "the tools are built in one configuration for four architectures" [ "$(cut -d' ' -f1 <<<"$tools" | sort -u | wc -l)" = 1 ]

for flag in --//rules/settings:ptx=only --//rules/settings:ptx=forbid --//rules/settings:required_archs=sm_90,gfx1100; do
  flagged=$(actions "$flag")
  expect "$flag changes its actions" [ "$(grep -v -e '-exec' <<<"$flagged" | sort)" != "$rest" ]
  expect "$flag leaves the tools alone" [ "$(grep -e '-exec' <<<"$flagged" | sort)" = "$tools" ]
done
exit "$failed"
