#!/bin/sh
# prepare.sh FOLDER: sees that there is a browser, and puts what drives it into FOLDER. Says what is missing, and fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1

for program in chromium node npm; do
    command -v "$program" >/dev/null || {
        echo "The status page cannot be tested: there is no $program. Debian has it: apt-get install chromium nodejs npm"
        exit 1
    }
done
mkdir -p "$folder"
cd "$folder"
exec 9>lock
flock 9 # two runs may share the folder
cmp -s "$here/package-lock.json" package-lock.json && [ -d node_modules/playwright-core ] && exit
cp "$here/package.json" "$here/package-lock.json" .
npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 || {
    cat npm.log
    rm package-lock.json
    echo "The status page cannot be tested: npm cannot fetch playwright-core (above). Is the network there?"
    exit 1
}
