#!/bin/sh
# Sets `found` to the installed recall, or to nothing. A plugin cannot bring the program along, so this looks for it where it is
# usually installed.

found=$(command -v recall 2>/dev/null)
if [ -z "$found" ]; then
    for folder in "${CARGO_HOME:-$HOME/.cargo}/bin" "$HOME/.local/bin" /opt/homebrew/bin /usr/local/bin; do
        if [ -f "$folder/recall" ] && [ -x "$folder/recall" ]; then
            found=$folder/recall
            break
        fi
    done
fi
