#!/bin/sh
# Builds the image rest-services/APP, tagged latest and with the git revision. `nx docker:build APP` runs this.
# README.md lists the variables that it reads.
set -eu
app=${1:?usage: docker/build.sh APP}
cd "$(dirname "$0")/.."

# What the machine has, unless it is set. It may have arguments of its own.
if [ -z "${CONTAINER_ENGINE:-}" ]; then
  if docker info >/dev/null 2>&1; then
    CONTAINER_ENGINE=docker # with a daemon that answers
  elif command -v podman >/dev/null; then
    CONTAINER_ENGINE=podman
  elif command -v buildah >/dev/null; then
    CONTAINER_ENGINE=buildah
  else
    echo "There is no container engine here: no docker with a running daemon, no podman, no buildah." >&2
    exit 1
  fi
fi

# The same commit gives the same labels, so nothing is built twice. A clone without its history has no revision.
revision=$(git describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null || echo unknown)
created=$(git show --no-patch --format=%cI HEAD 2>/dev/null || date -u +%Y-%m-%dT%H:%M:%SZ)
source=$(git config --get remote.origin.url 2>/dev/null | sed 's#//[^/@]*@#//#') # without a password
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "apps/$app/package.json")

# Podman and Buildah would leave HEALTHCHECK out, which their own format has no place for; Buildah also its cache. Older releases
# of both skip a stage that only a variable names.
case $CONTAINER_ENGINE in
*podman*) set -- --format docker --skip-unused-stages=false ;;
*buildah*) set -- --format docker --skip-unused-stages=false --layers ;;
*)
  export DOCKER_BUILDKIT=1 # what older releases of Docker would build with does not know BUILDPLATFORM
  set --
  ;;
esac

# shellcheck disable=SC2086
exec $CONTAINER_ENGINE build "$@" ${CONTAINER_BUILD_ARGS:-} ${NODE_IMAGE:+--build-arg "NODE_IMAGE=$NODE_IMAGE"} \
  ${RUNTIME_IMAGE:+--build-arg "RUNTIME_IMAGE=$RUNTIME_IMAGE"} \
  --build-arg "APP=$app" --build-arg "VERSION=$version" --build-arg "REVISION=$revision" --build-arg "CREATED=$created" \
  ${source:+--label "org.opencontainers.image.source=$source"} \
  --tag "rest-services/$app:latest" --tag "rest-services/$app:$revision" --file docker/Dockerfile .
