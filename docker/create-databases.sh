#!/bin/bash
# Runs once in the PostgreSQL container, when its volume is empty: a database for each service, and a role that owns it
# and may connect to no other. Names and password are those in the URL that the service gets. The limit is for two containers of eleven
# connections, as in an update, and a migration.
set -eu

decode() {
  local text=${1//\\/\\\\}
  printf '%b' "${text//%/\\x}"
}

for secret in /run/secrets/*-database-url; do
  if ! [[ $(cat "$secret") =~ ^postgres(ql)?://([^/?#:]*):([^/?#]*)@[^/?#@]*/([^?#]+) ]]; then
    echo "$secret must hold postgres://USER:PASSWORD@HOST/DATABASE, with user and password percent-encoded" >&2
    exit 1
  fi
  ROLE=$(decode "${BASH_REMATCH[2]}") PASSWORD=$(decode "${BASH_REMATCH[3]}") DATABASE=$(decode "${BASH_REMATCH[4]}") \
    psql --set=ON_ERROR_STOP=1 --quiet --username=postgres <<'SQL'
\getenv role ROLE
\getenv password PASSWORD
\getenv database DATABASE
create role :"role" login password :'password' connection limit 25;
create database :"database" owner :"role";
revoke all on database :"database" from public;
SQL
done
psql --set=ON_ERROR_STOP=1 --quiet --username=postgres \
  --command='revoke all on database postgres from public' --command='revoke all on database template1 from public'
