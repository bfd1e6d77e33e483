# Sourced by the scripts here: sets CONTAINER_ENGINE to what the machine has, unless it is set. It may have arguments of its own.
if [ -z "${CONTAINER_ENGINE:-}" ]; then
  if docker info >/dev/null 2>&1; then
    CONTAINER_ENGINE=docker # with a daemon that answers
  elif command -v podman >/dev/null; then
    CONTAINER_ENGINE=podman
  elif command -v buildah >/dev/null; then
    CONTAINER_ENGINE=buildah # builds, and runs nothing
  else
    echo "There is no container engine here: no docker with a running daemon, no podman, no buildah." >&2
    exit 1
  fi
fi
export CONTAINER_ENGINE
