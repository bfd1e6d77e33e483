#!/bin/sh
# Runs once in the PostgreSQL container, when its volume is empty: a database for each service, and a role that owns it
# and may connect to no other. The role's password is the one in the URL that the service gets.
set -eu

for secret in /run/secrets/*-database-url; do
  service=$(basename "$secret" -database-url)
  url=$(cat "$secret")
  credentials=${url#postgres://}
  credentials=${credentials%%@*}
  SERVICE=$service PASSWORD=${credentials#*:} psql --set=ON_ERROR_STOP=1 --quiet --username=postgres <<'SQL'
\getenv service SERVICE
\getenv password PASSWORD
create role :"service" login password :'password';
create database :"service" owner :"service";
revoke all on database :"service" from public;
SQL
done
psql --set=ON_ERROR_STOP=1 --quiet --username=postgres \
  --command='revoke all on database postgres from public' --command='revoke all on database template1 from public'
