#!/bin/sh
# Learns the day's rows, and writes to somebody if the world has moved. For cron:
#
#   30 2 * * *  accrete /usr/local/bin/nightly.sh visits /var/spool/visits/new.csv you@example.org
#
# The old version answers until the new one is kept; a file that was learnt is put
# aside, so that a job that is run twice learns nothing twice. MAIL is what sends
# (default: mail), STORE where models are.
set -eu
model=$1 rows=$2 to=$3
store=${STORE:-/var/lib/accrete}
[ -s "$rows" ] || exit 0

said=$(accrete update "$model" "$rows" --store "$store")
mv "$rows" "$rows.$(date +%Y%m%d%H%M%S).learnt"

# What update says of rules whose truth moved, and of how right the model was on
# rows that it had not seen.
if printf '%s\n' "$said" | grep -q 'was right on'; then
	right=$(printf '%s\n' "$said" | sed -n 's/.*was right on \([0-9.]*\) %.*/\1/p')
	if [ "$(printf '%.0f' "$right")" -lt "${LEAST:-90}" ] || printf '%s\n' "$said" | grep -q 'moved'; then
		printf '%s\n' "$said" | ${MAIL:-mail} -s "$model: right on $right % of the new rows" "$to"
	fi
fi
