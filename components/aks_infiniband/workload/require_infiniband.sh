# Ends with 1, and says what to do, where NCCL or UCX would use sockets in this container. Any POSIX shell runs it.
# SYS_CLASS, DEVICES, LIMITS, STATUS and CONFIG are where the kernel and NCCL keep what is read.
: "${SYS_CLASS:=/sys/class}" "${DEVICES:=/dev/infiniband}" "${LIMITS:=/proc/self/limits}" "${STATUS:=/proc/self/status}"
: "${CONFIG:=/etc/nccl.conf}" "${TOLD:=/dev/termination-log}"
wrong=""
say() { wrong="$wrong$*
"; }

ls "$DEVICES"/uverbs* >/dev/null 2>&1 || say "This container has no device under $DEVICES. Ask for the pool's RDMA" \
  "resource in resources.limits (output pools, podTemplate); if it is there, the device plugin gave no device."

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
case $(nccl NCCL_IB_DISABLE) in
  ""|0) ;;
  *) say "NCCL_IB_DISABLE=$(nccl NCCL_IB_DISABLE) switches InfiniBand off in NCCL. Remove it from the image, from" \
    "$CONFIG or from env." ;;
esac
case $(nccl NCCL_NET) in
  [Ss][Oo][Cc][Kk][Ee][Tt]) say "NCCL_NET=$(nccl NCCL_NET) makes NCCL use TCP. Remove it, or set NCCL_NET=IB." ;;
esac
if [ -n "${UCX_TLS-}" ]; then
  case ,$UCX_TLS, in
    ,^*ib,*|,^*rc,*|,^*all,*) say "UCX_TLS=$UCX_TLS excludes InfiniBand. Remove it, or set UCX_TLS=rc,sm,self." ;;
    ,^*|*,all,*|*,ib,*|*,rc*|*,dc*|*,ud*) ;;
    *) say "UCX_TLS=$UCX_TLS names no transport of InfiniBand. Remove it, or set UCX_TLS=rc,sm,self." ;;
  esac
fi

[ -z "$wrong" ] && { echo "InfiniBand: $active links are ACTIVE, and nothing makes NCCL or UCX use sockets."; exit 0; }
printf '%s' "$wrong" >&2
printf '%s' "$wrong" 2>/dev/null >"$TOLD" || :
exit 1
