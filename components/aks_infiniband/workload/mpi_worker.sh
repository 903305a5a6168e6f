# Runs sshd for mpirun. Where the check ($1) has failed, every login gets what it said and fails, and so does mpirun.
# An init container could not do that: its pod would fail, and mpirun would not learn of it.
sshd=$(command -v sshd || echo /usr/sbin/sshd)
said=$(sh -c "$1" 2>&1) && exec "$sshd" -De
printf '%s\n' "$said" | tee /tmp/require-infiniband >&2
exec "$sshd" -De -o "ForceCommand=cat /tmp/require-infiniband >&2; exit 1"
