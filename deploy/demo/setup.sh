# Make $VENV with the locked packages and this checkout.  One line says what is missing.
set -eu
python="${PYTHON:-python3}"
venv="${VENV:-.venv}"

command -v "$python" >/dev/null || { echo "Python 3.11 or later is needed, and there is no $python here." >&2; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Python 3.11 or later is needed, and $python is $("$python" -V); try make PYTHON=python3.11" >&2; exit 1; }
"$python" -c 'import ensurepip, venv' 2>/dev/null || {
    echo "Python's venv module is missing: install it first (Debian, Ubuntu: apt-get install python3-venv)." >&2; exit 1; }

pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }

# Show one line that counts the packages, in place of pip's hundreds; fails where pip has failed.
progress() {
    awk -v total="$(grep -c '^[A-Za-z].*==' requirements-dev.lock)" '
        /^Collecting/ { printf "\r  %d of some %d packages", ++n, total; fflush() }
        /^Installing/ { printf ", all are here; installing ..."; fflush() }
        /^pip has failed/ { failed = 1 }
        END { if (n) print ""; exit failed }'
}

echo "Setting up $venv with $("$python" -V) (once; one to three minutes) ..."
"$python" -m venv "$venv"
{ pip install --progress-bar off --require-hashes -r requirements-dev.lock || echo "pip has failed"; } | progress
echo "  pydns itself ..."
pip install --quiet --no-deps --editable .
