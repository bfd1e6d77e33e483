#!/bin/sh
# Builds the images and tests them as containers.
# README.md lists the variables that it reads. With IMAGES_ARE_LOADED=true, it tests rest-services/APP:latest as they are.
set -eu
cd "$(dirname "$0")/../../.."
export PATH="$PWD/node_modules/.bin:$PATH"
. docker/e2e/images/engine.sh
case $CONTAINER_ENGINE in
*buildah*)
  echo "Buildah builds containers and does not run them: install podman." >&2
  exit 1
  ;;
esac

if [ "${IMAGES_ARE_LOADED:-}" = true ]; then
  npx nx run-many -t build
else
  npx nx run-many -t build docker:build
fi

# Whatever happens, no container stays behind.
export CONTAINER_LABEL="rest-services.test=$$"
remove_containers() {
  containers=$($CONTAINER_ENGINE ps --all --quiet --filter "label=$CONTAINER_LABEL")
  # shellcheck disable=SC2086
  [ -z "$containers" ] || $CONTAINER_ENGINE rm --force $containers >/dev/null
}
trap remove_containers EXIT

cd docker/e2e/images
# Not through npx, which would not pass a signal on. After one, the first wait ends before Jest does.
NODE_OPTIONS='--experimental-vm-modules --disable-warning=ExperimentalWarning' \
  ../../../node_modules/.bin/jest --config ../jest.config.mjs --json --outputFile=test-results.json e2e/images/ "$@" &
jest=$!
trap 'kill $jest; wait $jest' INT TERM HUP
wait $jest
