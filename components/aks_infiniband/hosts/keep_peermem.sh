ns=/host/proc/1/ns
state=
while true; do
  if why=$(nsenter --mount=$ns/mnt --uts=$ns/uts --ipc=$ns/ipc --net=$ns/net --pid=$ns/pid -- sh -c "$1" 2>&1); then
    now="is loaded"
  else
    now="is not loaded, GPUDirect RDMA needs DMA-BUF: $why"
  fi
  [ "$now" = "$state" ] || echo "nvidia-peermem $now"
  state=$now
  sleep 30
done
