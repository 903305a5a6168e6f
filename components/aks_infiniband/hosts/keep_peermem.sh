state=
while true; do
  if why=$(nsenter -t 1 -m -u -i -n -p -- sh -c "$1" 2>&1); then
    now="is loaded"
  else
    now="is not loaded, GPUDirect RDMA needs DMA-BUF: $why"
  fi
  [ "$now" = "$state" ] || echo "nvidia-peermem $now"
  state=$now
  sleep 30
done
