# Ends with 1, and says what to do, where a job's program would use sockets in this container. Any POSIX shell runs it.
# SYS_CLASS, DEVICES, GPUS, LIMITS, STATUS and CONFIG are where the kernel and NCCL keep what is read.
: "${SYS_CLASS:=/sys/class}" "${DEVICES:=/dev/infiniband}" "${LIMITS:=/proc/self/limits}" "${STATUS:=/proc/self/status}"
: "${GPUS:=/dev}" "${CONFIG:=/etc/nccl.conf}" "${TOLD:=/dev/termination-log}"
wrong=""
say() { wrong="$wrong$*
"; }

ls "$DEVICES"/uverbs* >/dev/null 2>&1 || say "This container has no device under $DEVICES. Ask for the pool's RDMA" \
  "resource in resources.limits (podTemplate of aks-infiniband workload); if it is there, the device plugin gave no device."

active=0
for port in "$SYS_CLASS"/infiniband/*/ports/1; do
  [ "$(cat "$port/link_layer" 2>/dev/null)" = InfiniBand ] || continue
  device=${port%/ports/1}; device=${device##*/}
  state=$(cat "$port/state" 2>/dev/null)
  case $state in
    *ACTIVE*) active=$((active + 1)) ;;
    *) say "The InfiniBand link of $device is $state, not ACTIVE. Cordon this node, and ask aks-infiniband doctor." ;;
  esac
done
[ "$active" -gt 0 ] || say "No InfiniBand link of this node is ACTIVE. Run on a pool with InfiniBand: nodeSelector of podTemplate."

limit=$(sed -n 's/^Max locked memory  *\([^ ]*\).*/\1/p' "$LIMITS" 2>/dev/null)
capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' "$STATUS" 2>/dev/null)
case $capabilities in
  *[4567cdef]???) ;;  # IPC_LOCK is capability 14
  *) [ "$limit" = unlimited ] || say "This container may lock only $limit bytes of memory, and has no capability IPC_LOCK." \
    "Take securityContext of podTemplate and run as root, or set networkOperator.nodePreparation." ;;
esac

# What the environment leaves open, NCCL reads from its file.
nccl() { # name
  eval "value=\${$1-}"
  [ -n "$value" ] || value=$(sed -n "s/^ *$1 *= *//p" "$CONFIG" 2>/dev/null | tail -n 1)
  printf %s "$value"
}
# The variables of environment_away.yaml, by the same rules: small letters, lists by comma, semicolon or colon.
small() { printf '%s\n' "$1" | sed y/ABCDEFGHIJKLMNOPQRSTUVWXYZ/abcdefghijklmnopqrstuvwxyz/; }
matches() { [ -n "$(small "$1" | sed "$3" | sed -nE "\\#$2#p")" ]; } # value pattern change
away() { say "$1=$2 $3. To fix it, $4."; }
is() { ! matches "$2" "^($3)\$" "" || away "$1" "$2" "$4" "$5"; } # name value pattern says fix
lacks() { # name value words words-that-end-it says fix
  case $2 in
    "") ;;
    ^*) ! matches "${2#^}" "(^|,)($4)(,|\$)" 'y/;:/,,/' || away "$1" "$2" "$5" "$6" ;;
    *) matches "$2" "(^|,)($3)" 'y/;:/,,/' || away "$1" "$2" "$5" "$6" ;;
  esac
}
is NCCL_IB_DISABLE "$(nccl NCCL_IB_DISABLE)" '[^0].*' "switches InfiniBand off in NCCL" "remove it from env, the image or $CONFIG"
is NCCL_NET "$(nccl NCCL_NET)" 'socket|tcp' "makes NCCL use TCP" "remove it, or set NCCL_NET=IB"
is NCCL_IB_HCA "$(nccl NCCL_IB_HCA)" '\^=?mlx5(_|_ib)?(,.*)?|=?mlx5_an[0-9]+(:[0-9]+)?' "leaves NCCL no HCA" "remove it"
lacks UCX_TLS "${UCX_TLS-}" 'all|ib|rc|dc|ud' 'ib|rc|all' \
  "names no transport of InfiniBand for UCX, or excludes it" "remove it, or set UCX_TLS=rc,cuda_copy,cuda_ipc,sm,self"
lacks UCX_NET_DEVICES "${UCX_NET_DEVICES-}" 'all|mlx|ib' - "gives UCX no HCA" "remove it, or set UCX_NET_DEVICES=all"
# Open MPI only starts the ranks if NCCL carries the data, which needs GPUs.
gpus() { [ -e "$GPUS/kfd" ] || ls "$GPUS"/nvidia[0-9]* >/dev/null 2>&1; }
if [ -z "${NCCL_IB_HCA-}${NCCL_SOCKET_IFNAME-}" ] || ! gpus; then
  is OMPI_MCA_pml "${OMPI_MCA_pml-}" 'ob1|cm|\^([^,]+,)*ucx(,.*)?' \
    "keeps Open MPI from UCX, and so from InfiniBand" "remove it, or set OMPI_MCA_pml=ucx"
  [ "$(small "${OMPI_MCA_pml-}")" = ucx ] || lacks OMPI_MCA_btl "${OMPI_MCA_btl-}" 'openib|uct|ofi' - \
    "leaves Open MPI TCP alone between machines" "remove it, or set OMPI_MCA_pml=ucx"
fi
lacks FI_PROVIDER "${FI_PROVIDER-}" 'verbs|mlx|ucx' verbs "keeps libfabric from verbs" "remove it, or set FI_PROVIDER=verbs"
is MPIR_CVAR_NEMESIS_NETMOD "${MPIR_CVAR_NEMESIS_NETMOD-}" tcp "makes MPICH use TCP" "remove it"
is MPIR_CVAR_OFI_USE_PROVIDER "${MPIR_CVAR_OFI_USE_PROVIDER-}" '(tcp|sockets|udp).*' \
  "keeps MPICH's libfabric from verbs" "remove it, or set it to verbs;ofi_rxm"
is I_MPI_FABRICS "${I_MPI_FABRICS-}" '(.*:)?(tcp|shm)' \
  "makes Intel MPI use TCP, or no network" "remove it, or set I_MPI_FABRICS=shm:ofi"
is I_MPI_OFI_PROVIDER "${I_MPI_OFI_PROVIDER-}" '(tcp|sockets).*' \
  "keeps Intel MPI's libfabric from verbs" "remove it, or set I_MPI_OFI_PROVIDER=mlx"

[ -z "$wrong" ] && { echo "InfiniBand: $active links are ACTIVE, and nothing makes NCCL or UCX use sockets."; exit 0; }
printf '%s' "$wrong" >&2
printf '%s' "$wrong" 2>/dev/null >"$TOLD" || :
exit 1
