#!/bin/sh
# run.sh EVENT: hands a hook's stdin to the installed recall.
#
# Whatever happens the exit code is 0: exit 2 would block a compaction, and any other one shows the user an error for a mere memory.

event=$1

. "${0%/*}/../find.sh"

if [ -n "$found" ]; then
    "$found" hook "$event"
elif [ "$event" = session-start ]; then
    # Said once, when a session begins afresh, and to the user only: it is no business of the model's.
    IFS= read -r payload
    case $payload in
    *'"source":"startup"'*)
        printf '%s\n' '{"systemMessage":"the plugin is here but the program recall is not: run `cargo install --path .` in a clone of its repository, then start a new session"}'
        ;;
    esac
fi
exit 0
