# Run the tests once more on Python 3.13 where it is installed and is not the one that ran them just now.
set -eu
for candidate in python3.13 "$HOME"/.pyenv/versions/3.13.*/bin/python3.13; do
    "$candidate" -c '' 2>/dev/null || continue
    [ -x .venv/bin/python3.13 ] && exit 0
    PYTHON="$candidate" VENV=.venv-3.13 sh deploy/demo/setup.sh
    exec .venv-3.13/bin/python -m pytest tests
done
echo "Python 3.13 is not installed: the tests ran on $(.venv/bin/python -V) only."
