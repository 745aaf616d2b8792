#!/bin/sh
# Builds FerretDB 1.24 (MongoDB's protocol on SQLite) into Go's bin folder, for the tests of the MongoDB read models.
# `go install` of it builds a program that refuses to start, because a file with its version is generated, not committed.
set -eu
version=v1.24.0
module=github.com/FerretDB/FerretDB
bin="$(go env GOPATH)/bin"
[ -x "$bin/ferretdb" ] && exit 0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
go mod init ferretdb-install >/dev/null 2>&1
from="$(go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')"
cp -R "$from" source
chmod -R u+w source
cd source
echo "$version" >build/version/version.txt
mkdir -p "$bin"
GOFLAGS=-buildvcs=false go build -trimpath -o "$bin/ferretdb" ./cmd/ferretdb
"$bin/ferretdb" --version | head -n 1
