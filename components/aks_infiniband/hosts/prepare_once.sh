ns=/host/proc/1/ns
until nsenter --mount=$ns/mnt --uts=$ns/uts --ipc=$ns/ipc --net=$ns/net --pid=$ns/pid -- sh -c "$1"; do
  echo "the machine could not be prepared; trying again in 30 s" >&2
  sleep 30
done
