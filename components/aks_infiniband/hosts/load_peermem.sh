[ -e /run/mellanox/drivers/.driver-ready ] || { echo OFED is not ready; exit 1; }
modprobe nvidia-peermem
