set -eu
nvidia-ctk config --in-place --set accept-nvidia-visible-devices-envvar-when-unprivileged=false
echo "containers without privileges get no GPUs by NVIDIA_VISIBLE_DEVICES"
