#!/usr/bin/env bash
# run.sh: what Bazel says of the actions.
#
# The tools are built once, for the execution platform, whatever the flags of rules/settings say and however many
# GPU architectures there are; the actions that a flag is about do change. Device images do not depend on the host's
# compilation mode. Our actions name nothing of the machine, and ask for nothing that a remote worker lacks. Programs are
# verified by every build but one that asks for no validations.
# Exit code: 0 all as expected, 1 not.
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

# A server that has analysed the tests names their configurations too, which flags made.
./bazelw shutdown >/dev/null 2>&1
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

# Of one architecture each, and of none.
ours='mnemonic("(Device|Offload).*", deps(//examples/saxpy))'
of_images='mnemonic("Device.*|OffloadCheck", deps(//examples/saxpy))'
crates='mnemonic("Rustc", filter("^//examples/saxpy:.*\.crate$|^//runtime/device", deps(//examples/saxpy)))'
described() { ./bazelw aquery --noshow_progress "$@" 2>/dev/null; }
keys() { { described "$of_images" "$@"; described "$crates" "$@"; } | grep ActionKey | sort; }
images=$(keys)
expect "images take actions" [ "$(wc -l <<<"$images")" -gt 20 ]
for mode in opt dbg; do
  expect "-c $mode leaves the images alone" [ "$(keys -c "$mode")" = "$images" ]
done

# Of these the text is looked through.
has() { grep -qE -- "$1" <<<"$text"; }
lacks() { ! grep -E -- "$1" <<<"$text"; }
each_has() { has "$1" && [ "$(grep -cE -- "$1" <<<"$text")" = "$(grep -c '^  Mnemonic: ' <<<"$text")" ]; }
# A path from the root may follow an option: -L/usr. The sources of `core` are called /rust-src; PATH is looked at by itself.
names_no_path() { ! sed -E 's,=/rust-src\b| PATH=[^ ]*,,g' <<<"$text" | grep -E '(^|[^[:alnum:]_.~+%{}/-]|-[A-Z])/[[:alnum:]]'; }
text=$(described "$ours")
expect "what is looked through is a command line" has '^  Command Line: \(exec bazel-out/.*/offload '
expect "no action names a path of this machine" names_no_path
expect "no action has a variable of the machine's" lacks '^  Environment: \[(.*, )?(PATH|HOME|USER|TMPDIR|LD_LIBRARY_PATH|CUDA_HOME|ROCM_PATH)='
expect "no action asks for more than a worker has" lacks '^  ExecutionInfo: .*(requires-network|no-sandbox|no-remote|no-cache|local)'
expect "paths of configurations may be mapped in each" each_has '^  ExecutionInfo: .*supports-path-mapping'

# Crates behind the images are compiled by rules_rust, which gives its actions the default PATH; rustc starts nothing by it.
text=$(described "$crates")
expect "each crate is compiled for a GPU" each_has "^    '--target=(nvptx64-nvidia-cuda|amdgcn-amd-amdhsa)'"
expect "and names no path of this machine" names_no_path
expect "nor a variable" lacks '^  Environment: \[(.*, )?(HOME|USER|TMPDIR|LD_LIBRARY_PATH|CUDA_HOME|ROCM_PATH)='
expect "its PATH is the same on each machine" each_has '^  Environment: .*, PATH=/bin:/usr/bin:/usr/local/bin,'

# Whether a program may have what it has is asked of every build but one that asks for no validations.
planted=//tests/plants:bare_rodata.ptx
expect "a program with PTX fails the build" fails_and_says "breached by" ./bazelw build --noshow_progress "$planted"
expect "--norun_validations builds it" ./bazelw build --noshow_progress --norun_validations "$planted"
exit "$failed"
