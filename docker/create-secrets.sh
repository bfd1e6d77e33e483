#!/bin/sh
# Makes the passwords that compose.yaml hands to the containers as secrets, in docker/secrets. What is there stays as it is.
set -eu
cd "$(dirname "$0")"

# Containers mount these, each with a user of its own, whatever the umask was under which the sources were cloned.
chmod -R a+rX create-databases.sh observability

random() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

# Only the owner gets into the folder. The files are readable for all, since each container has a user of its own.
mkdir -p secrets
chmod 700 secrets
secret() {
  [ -e "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"
  chmod 444 "secrets/$1"
}

secret postgres-password "$(random)"
for service in $(sed -n 's|^ *file: ./secrets/\(.*\)-database-url$|\1|p' compose.yaml); do
  secret "$service-database-url" "postgres://$service:$(random)@postgres:5432/$service"
done
