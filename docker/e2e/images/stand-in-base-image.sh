#!/bin/sh
# Makes an image that takes the place of the official one of Node.js where no registry can be reached: Debian, node, npm.
# Needs root, podman and debootstrap, the packages of the workspace, and a Debian mirror.
set -eu
name=${1:?usage: docker/e2e/images/stand-in-base-image.sh NAME}
cd "$(dirname "$0")/../../.."
root=$(mktemp --directory)
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=ca-certificates bookworm "$root" >&2
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*

# The workspace's own Node.js, which has the version that the Dockerfile names, and an npm of its release line.
install -m 755 "$(node --print 'require.resolve(`node-${process.platform}-${process.arch}/bin/node`)')" "$root/usr/local/bin/node"
npm install --prefix "$root/usr/local/lib" --no-save --no-package-lock --no-audit --no-fund --ignore-scripts npm@11 >&2
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"

# Whom this machine trusts, which may be more than Debian does: npm fetches packages when an image is built.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true

tar --create --directory "$root" . | podman import --quiet \
  --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
  --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' - "$name" >/dev/null
