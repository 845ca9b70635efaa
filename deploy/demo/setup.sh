# Make $VENV with the locked packages and this checkout.  One line says what is missing.
set -eu
python="${PYTHON:-python3}"
venv="${VENV:-.venv}"

command -v "$python" >/dev/null || { echo "Python 3.11 or later is needed, and there is no $python here." >&2; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Python 3.11 or later is needed, and $python is $("$python" -V); try make PYTHON=python3.11" >&2; exit 1; }
"$python" -c 'import ensurepip, venv' 2>/dev/null || {
    echo "Python's venv module is missing: install it first (Debian, Ubuntu: apt-get install python3-venv)." >&2; exit 1; }

echo "Setting up $venv with $("$python" -V) (once; a minute or so) ..."
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
