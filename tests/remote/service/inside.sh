#!/bin/bash
# What runs in the service's root and namespaces; service.sh calls it. /srv is the service's folder.
set -euo pipefail
pg=$(echo /usr/lib/postgresql/*/bin)

# as_user [OPTION...] COMMAND...: not as root, but as a user of its own namespace; unshare's options.
as_user() { exec unshare --user --map-user=1000 --map-group=1000 "$@"; }

case $1 in
  # The first process of the PID namespace: with its end, all others end. It stays as long as service.sh's pid file does,
  # though not for ever. While bash waits for a command, it reaps what others leave behind.
  init)
    mount --bind "$2" /srv
    : >/srv/ready
    while [ -e /srv/pid ] && [ $SECONDS -lt 7200 ]; do sleep 0.2; done
    ;;

  # launch NAME: in the background, with its output and its process id in /srv.
  launch)
    setsid "$0" "$2" </dev/null >>"/srv/$2.log" 2>&1 &
    echo $! >"/srv/$2.pid"
    ;;
  runs) kill -0 "$(<"/srv/$2.pid")" ;;
  kill)
    kill -KILL "$(<"/srv/$2.pid")"
    while "$0" runs "$2" 2>/dev/null; do sleep 0.1; done
    ;;

  # PostgreSQL refuses to run as root.
  initdb) as_user "$pg/initdb" -D /srv/database -U bgd --auth=trust --encoding=UTF8 --locale=C --no-sync ;;
  # Its socket lies in its folder, and nothing listens on the network.
  database) as_user "$pg/postgres" -D /srv/database -k /srv/database -c listen_addresses= -c fsync=off ;;
  migrate) exec bgd migrate apply "postgresql+psycopg://bgd@/postgres?host=/srv/database" ;;
  server) exec bgd server start /srv/server.yml ;;
  proxy) exec buildbox-casd --cas-remote="http://127.0.0.1:$(</srv/port)" --bind=unix:/srv/proxy.socket --quota-high=8G /srv/proxy ;;
  # In a PID namespace of its own, so that with it die the actions that it runs. Not as root, so that these cannot write to
  # their inputs: folders are made of hard links into the proxy's files (and not of FUSE, which not all machines have).
  # Left alone it gives up, in silence, on a server that is away for ten seconds.
  worker)
    as_user --mount --pid --fork --kill-child --mount-proc \
      buildbox-worker --bots-remote="http://127.0.0.1:$(</srv/port)" --bots-retry-limit=15 --bots-retry-delay=250 \
      --cas-remote=unix:/srv/proxy.socket --buildbox-run=/usr/bin/buildbox-run-bubblewrap --runner-arg=--staging-mode=copy-or-link \
      --platform OSFamily=linux --concurrent-jobs="$(nproc)" "worker-$$"
    ;;

  free-port) exec python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' ;;
  init-answers) [ -e /srv/ready ] ;;
  database-answers) "$pg/pg_isready" -q -h /srv/database ;;
  server-answers) : <>"/dev/tcp/127.0.0.1/$(</srv/port)" ;;
  proxy-answers) [ -S /srv/proxy.socket ] ;;
  # The worker that was started last is known to the server.
  worker-answers)
    [ "$("$pg/psql" -h /srv/database -U bgd -d postgres -Atc "select count(*) from bots where bot_id like '%worker-$(</srv/worker.pid)'")" = 1 ]
    ;;
  upload-abi)
    exec casupload --remote="http://127.0.0.1:$(</srv/port)" --output-digest-file=/srv/abi.digest /abi
    ;;
esac
