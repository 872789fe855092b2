# shellcheck shell=bash
# What service.sh and provision.sh share: the service's root, and messages.
_service_dir=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/bazelw/common.sh
source "$_service_dir/../../../tools/bazelw/common.sh"
SERVICE_ROOT=$(root_of remote "$_service_dir"/{provision.sh,packages.txt,requirements.txt})

say() { printf 'remote: %s\n' "$*" >&2; }
