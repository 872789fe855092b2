#!/usr/bin/env bash
# service_test.sh: the service of service.sh is what run.sh takes it for.
#
# A small module is built on it. Its action tells what it saw; then parts of the service are killed under it.
# Exit code: 0 all as expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
service=$repo/tests/remote/service.sh

# remote BASE COMMAND ARGUMENT...: Bazel on the service; bounded, for it waits for a worker for ever.
remote() {
  (cd "$module" && timeout 120 "$repo/bazelw" --output_base="$folder/base.$1" "$2" --config=remote --noshow_progress "${@:3}")
}
# ran PROCESSES LOG: Bazel counted these, and those that are its own.
ran() {
  grep -E '^INFO: .* process(es)?: ' "$2"
  [ "$(sed -nE '/^INFO: .* process(es)?: /{s///;s/[0-9]+ internal(, )?//;s/(, )?\.$//p}' "$2")" = "$1" ]
}
# runs PROCESSES BASE COMMAND ARGUMENT...
runs() {
  remote "${@:2}" >"$folder/log" 2>&1 || { cat "$folder/log"; return 1; }
  ran "$1" "$folder/log"
}
# saw WHAT LINE...: the action saw these, and no others.
saw() {
  diff <(for line in "${@:2}"; do echo "$line"; done | sort) <(sed -n "s|^$1 ||p" "$module/bazel-bin/saw" | sort)
}
# listens_at ADDRESS PORT: there, in the kernel's spelling (the end of it), and at no other address.
listens_at() {
  local sockets
  sockets=$(cat /proc/net/tcp /proc/net/tcp6 | grep -oE "[0-9A-F]+:$(printf %04X "$2") 0+:0000 0A ")
  echo "$sockets"
  [[ ${sockets%%:*} = *"$1" ]] && [ "$(wc -l <<<"$sockets")" = 1 ]
}
# The PID namespace of a service, and that no process is in it.
namespace() { readlink "/proc/$(cut -d' ' -f1 "$1/pid")/ns/pid_for_children"; }
all_ended() { ! readlink /proc/[0-9]*/ns/pid | grep -qxF "$1"; }

mkdir "$module"
cat >"$module/MODULE.bazel" <<END
# The provisioned Bazel's overrides are for modules that this brings in.
bazel_dep(name = "rules_offload", version = "0.1.0")
local_path_override(module_name = "rules_offload", path = "$repo")
END
echo undeclared >"$module/undeclared"
mkdir "$module/many"
for i in {1000..1999}; do printf "%020000d\n" "$i" >"$module/many/$i"; done
cat >"$module/rules.bzl" <<'END'
def _look_impl(ctx):
    out = ctx.actions.declare_file("saw")
    args = ctx.actions.args()
    args.add(ctx.file.script)
    args.add(out)
    ctx.actions.run(
        executable = "/bin/bash",
        arguments = [args],
        inputs = [ctx.file.script, ctx.file.declared],
        outputs = [out],
        mnemonic = "Look",
    )
    return DefaultInfo(files = depset([out]))

def _exits_test_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(out, "#!/bin/bash\nexit %d\n" % ctx.attr.code, is_executable = True)
    return DefaultInfo(executable = out)

exits_test = rule(
    implementation = _exits_test_impl,
    attrs = {"code": attr.int()},
    test = True,
)

look = rule(
    implementation = _look_impl,
    attrs = {
        "declared": attr.label(allow_single_file = True),
        "script": attr.label(allow_single_file = True),
    },
)
END
cat >"$module/BUILD.bazel" <<'END'
load(":rules.bzl", "exits_test", "look")

look(
    name = "look",
    declared = "declared",
    script = "look.sh",
)

exits_test(
    name = "passes_test",
    size = "small",
)

exits_test(
    name = "fails_test",
    size = "small",
    code = 3,
)

filegroup(
    name = "words",
    srcs = ["word%d" % i for i in range(4)],
)

[genrule(
    name = "word%d" % i,
    outs = ["word%d.txt" % i],
    cmd = "sleep 1 && echo %d >$@" % i,
) for i in range(4)]

genrule(
    name = "slow",
    outs = ["slow.txt"],
    cmd = "sleep 10 && echo slow >$@",
)

genrule(
    name = "many",
    srcs = glob(["many/*"]),
    outs = ["many.txt"],
    cmd = "cat $(SRCS) | sort >$@",
)

genrule(
    name = "fails",
    outs = ["fails.txt"],
    cmd = "echo \"said by the action in $$(echo /*)\" >&2; exit 3",
)
END
cat >"$module/look.sh" <<'END'
{
  for file in /*; do echo "root $file"; done
  for file in /usr/lib/x86_64-linux-gnu/* /usr/lib64/*; do echo "library ${file##*/}"; done
  for file in /home/* /root/* /etc/*; do [ ! -e "$file" ] || echo "file $file"; done
  for tool in gcc cc ld rustc cargo python3 perl git awk; do ! type -P "$tool" || echo "tool $tool"; done
  for name in $(compgen -e); do echo "variable $name"; done
  { read -r; read -r; while read -r name _; do echo "interface ${name%:}"; done; } </proc/net/dev
  read -r port <declared
  for file in declared /usr/bin/yes; do ! : >>"$file" || echo "wrote $file"; done
  ! : <>"/dev/tcp/127.0.0.1/$port" || echo "network 127.0.0.1:$port"
} >"$1"
END

began=$SECONDS
cleanup "$service" stop "$folder/service"
"$service" start "$folder/service" || { echo "FAILED: the service starts"; exit 1; }
echo "PASSED: the service starts (in $((SECONDS - began)) s)"
namespace=$(namespace "$folder/service")
cp "$folder/service/bazelrc" "$module/.bazelrc"
cp "$folder/service/port" "$module/declared"

expect "it listens on the loopback interface alone" listens_at 0100007F "$(<"$module/declared")"
expect "an action runs on the worker" runs "1 remote" first build //:look
expect "it sees no file but the root's and its inputs" saw root /bazel-out /bin /declared /dev /lib /lib64 /look.sh /proc /tmp /usr
expect "no library but the C library, and what coreutils need" \
  saw library ld-linux-x86-64.so.2 lib{c,m}.so.6 libdl.so.2 libpthread.so.0 lib{rt,gcc_s,acl,attr,selinux}.so.1 libpcre2-8.so.0
expect "no compiler and no interpreter but the shell" saw tool
expect "nothing of this machine's settings" saw file
expect "it can write to no input, and to no file of the root" saw wrote
expect "no variable but the shell's" saw variable PWD SHLVL
expect "no network interface but its own" saw interface lo
expect "not even the service" saw network

expect "genrules run on the worker" runs "4 remote" first build //:words
expect "many files at once are no trouble" runs "1 remote" first build //:many
expect "they are all there" cmp "$module/bazel-bin/many.txt" <(cat "$module"/many/*)
expect "a test runs on the worker, and the program that writes its report" runs "2 remote" first test //:passes_test
expect "a test that fails does so there" fails_and_says "1 fails remotely" remote first test //:fails_test
expect "a clean output base has all from the cache" runs "5 remote cache hit" second build //:look //:words
expect "a failure is the worker's" fails_and_says "said by the action in /bazel-out /bin /dev" remote first build //:fails

remote first build //:slow >"$folder/slow" 2>&1 &
slow=$!
sleep 5
"$service" kill-worker "$folder/service"
expect "an action outlives its worker's death" kill -0 "$slow"
"$service" start-worker "$folder/service"
expect "and another worker runs it" wait "$slow"
expect "to its end" ran "1 remote" "$folder/slow"
expect "what it made is whole" grep -qx slow "$module/bazel-bin/slow.txt"
"$service" restart-server "$folder/service"
expect "a server that starts anew has the blobs, and no results" runs "4 remote" third build //:words

"$service" stop "$folder/service"
expect "stop ends all processes" all_ended "$namespace"
expect "without it nothing is run here instead" fails_and_says "UNAVAILABLE" remote second build //:slow

# The server cannot make its folder.
mkdir "$folder/broken"
: >"$folder/broken/cas"
expect "a start that fails says what failed" fails_and_says "the service's server does not answer" "$service" start "$folder/broken"
expect "and leaves nothing behind" [ ! -e "$folder/broken/pid" ]
exit "$failed"
