#!/usr/bin/env bash
# service.sh COMMAND FOLDER: a remote-execution service on the loopback interface, for tests that need a Bazel around
# them. BuildGrid schedules, buildbox runs the actions under bubblewrap: without a network, and in a root that has a
# shell, coreutils, sed, find and the C library only. Both are provisioned once, into bazelw's cache.
#
#   start FOLDER           starts it; when it answers, FOLDER/bazelrc has what a client needs:
#                            bazelw --bazelrc=FOLDER/bazelrc test --config=remote ...
#                          FOLDER is made; it holds all that the service writes, and the logs (FOLDER/*.log).
#   stop FOLDER            ends all that start began, however far that came. Without it: the end of FOLDER, or two hours.
#   kill-worker FOLDER     kills the worker, and what it runs; the server gives that to another one after 20 s.
#   start-worker FOLDER    starts another one.
#   restart-server FOLDER  kills the server and starts it on the same port. It forgets results of actions, no blobs.
#
# All processes live in a PID namespace and see no other: what is killed by number is the service's own.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/remote/service/common.sh
source "$here/service/common.sh"
PATH=$PATH:/usr/sbin:/sbin

usage() { sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
[ $# = 2 ] || usage
command=$1 folder=$(realpath -m "$2")

# When a process began; with its number, its name for ever.
began() {
  local fields
  fields=$(cat "/proc/$1/stat" 2>/dev/null) || return
  read -ra fields <<<"${fields##*) }"
  echo "${fields[19]}"
}
# The process that made the namespaces, if it still runs.
owner() {
  local pid time
  read -r pid time 2>/dev/null <"$folder/pid" && [ "$(began "$pid")" = "$time" ] && echo "$pid"
}

# ns ARGUMENT...: inside.sh in the service's namespaces. Nothing of the caller's environment goes in: proxies least of all.
ns() {
  local pid user=()
  pid=$(owner) || { say "error: no service runs in $folder"; return 1; }
  [ "/proc/$pid/ns/user" -ef /proc/self/ns/user ] || user=(--user --preserve-credentials)
  nsenter --target "$pid" "${user[@]}" --mount --pid="/proc/$pid/ns/pid_for_children" \
    env -i PATH=/usr/local/bin:/usr/bin:/usr/sbin HOME=/srv LC_ALL=C.UTF-8 "$here/service/inside.sh" "$@"
}

# run NAME: starts it, and waits until it answers.
run() {
  ns launch "$1"
  until_answers "$1" ns runs "$1"
}
# until_answers NAME COMMAND...: as long as COMMAND is true, though not for ever.
until_answers() {
  local name=$1 end=$((SECONDS + 60))
  shift
  until ns "$name-answers" >>"$folder/start.log" 2>&1; do
    if [ "$SECONDS" -ge "$end" ] || ! "$@" 2>/dev/null; then
      tail -n 20 "$folder/$name.log" >&2
      die "the service's $name does not answer (logs: $folder/*.log)"
    fi
    sleep 0.1
  done
}

# once ARGUMENT...: ns, which is to succeed.
once() {
  ns "$@" >>"$folder/start.log" 2>&1 || { tail -n 20 "$folder/start.log" >&2; die "$1 failed (log: $folder/start.log)"; }
}

stop() {
  local pid end=$((SECONDS + 20))
  pid=$(owner) || return 0
  if [ -e "$folder/ready" ]; then rm "$folder/pid"; else kill -KILL "$pid"; fi
  while [ -e "/proc/$pid" ]; do
    [ "$SECONDS" -lt "$end" ] || die "process $pid does not end"
    sleep 0.1
  done
}

start() {
  [ ! -e "$folder/init.log" ] || die "$folder was used before: stop what runs there, and remove it"
  [ -e "$SERVICE_ROOT/.complete" ] || "$here/service/provision.sh"
  mkdir -p "$folder"
  trap stop EXIT
  setsid "$here/../../tools/bazelw/enter.sh" "$SERVICE_ROOT" unshare --pid --fork --kill-child --mount-proc \
    "$here/service/inside.sh" init "$folder" </dev/null >"$folder/init.log" 2>&1 &
  echo "$! $(began $!)" >"$folder/pid"
  until_answers init [ -e "/proc/$!" ]
  ns free-port >"$folder/port"
  sed "s/{PORT}/$(<"$folder/port")/" "$here/service/server.yml" >"$folder/server.yml"
  once initdb
  run database
  once migrate
  run server
  run proxy
  run worker
  once upload-abi
  sed -e "s/{PORT}/$(<"$folder/port")/" -e "s|{ABI}|$(<"$folder/abi.digest")|" "$here/service/client.bazelrc" >"$folder/bazelrc"
  trap - EXIT
}

case $command in
  start) start ;;
  stop) stop ;;
  kill-worker) ns kill worker ;;
  start-worker) run worker ;;
  restart-server)
    ns kill server
    run server
    ;;
  *) usage ;;
esac
